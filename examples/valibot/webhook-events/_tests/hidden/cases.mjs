export const work = 'events.js';
export const cases = {
  'a payment': [
    (work) => work.parseEvent({ type: 'payment.succeeded', amount: 1299, currency: 'EUR' }),
    { ok: true, value: { type: 'payment.succeeded', amount: 1299, currency: 'EUR' } },
  ],
  'a refund': [
    (work) => work.parseEvent({ type: 'refund.created', amount: 1, payment: { id: 'pay_81' } }),
    { ok: true, value: { type: 'refund.created', amount: 1, payment: { id: 'pay_81' } } },
  ],
  'a failure for another reason': [
    (work) => work.parseEvent({ type: 'payment.failed', reason: 'bad luck' }),
    { ok: false, paths: ['reason'] },
  ],
  'unknown and missing types': [
    (work) => [work.parseEvent({ type: 'payment.pending', amount: 0 }), work.parseEvent({ amount: 5 })],
    [{ ok: false, paths: ['type'] }, { ok: false, paths: ['type'] }],
  ],
  'fields of another type of event': [
    (work) => work.parseEvent({ type: 'payment.failed', reason: 'fraud', amount: 5 }),
    { ok: false, paths: ['amount'] },
  ],
  'a key too many, further down': [
    (work) => work.parseEvent({ type: 'refund.created', amount: 7, payment: { id: 'pay_2', method: 'card' } }),
    { ok: false, paths: ['payment.method'] },
  ],
  'several mistakes': [
    (work) => {
      const { ok, paths } = work.parseEvent({ type: 'refund.created', amount: -0.5, payment: { id: '81' } });
      return [ok, paths.sort()];
    },
    [false, ['amount', 'payment.id']],
  ],
  'amounts and currencies': [
    (work) => [[0, 'EUR'], [1.5, 'EUR'], ['1', 'EUR'], [1, 'eur'], [1, 'EURO'], [1, 'USD']].map(([amount, currency]) =>
      work.parseEvent({ type: 'payment.succeeded', amount, currency }).paths?.join() ?? 'right'),
    ['amount', 'amount', 'amount', 'currency', 'currency', 'right'],
  ],
};
