import * as v from 'valibot';

const Amount = v.pipe(v.number(), v.integer(), v.minValue(1));

const Event = v.variant('type', [
  v.strictObject({
    type: v.literal('payment.succeeded'),
    amount: Amount,
    currency: v.pipe(v.string(), v.regex(/^[A-Z]{3}$/)),
  }),
  v.strictObject({
    type: v.literal('payment.failed'),
    reason: v.picklist(['card_declined', 'expired', 'fraud']),
  }),
  v.strictObject({
    type: v.literal('refund.created'),
    amount: Amount,
    payment: v.strictObject({ id: v.pipe(v.string(), v.startsWith('pay_')) }),
  }),
]);

export function parseEvent(input) {
  const result = v.safeParse(Event, input);
  if (result.success) return { ok: true, value: result.output };
  return { ok: false, paths: [...new Set(result.issues.map((issue) => v.getDotPath(issue)))] };
}
