export const work = 'patch.js';
export const cases = {
  'what is there stays, what is not is not made': [
    (work) => {
      const { ok, value } = work.parsePatch({ name: 'Ada', address: { city: 'London' } });
      return [ok, Object.keys(value), Object.keys(value.address), value];
    },
    [true, ['name', 'address'], ['city'], { name: 'Ada', address: { city: 'London' } }],
  ],
  'null takes the bio away': [
    (work) => work.parsePatch({ bio: null }),
    { ok: true, value: { bio: null } },
  ],
  'undefined is no value': [
    (work) => ['name', 'bio', 'address'].map((key) => {
      const { ok, errors } = work.parsePatch({ name: 'Ada', [key]: undefined });
      return [ok, Object.keys(errors ?? {})];
    }),
    [[false, ['name']], [false, ['bio']], [false, ['address']]],
  ],
  'undefined further down': [
    (work) => {
      const { ok, errors } = work.parsePatch({ address: { city: undefined, country: 'UK' } });
      return [ok, Object.keys(errors ?? {})];
    },
    [false, ['address.city']],
  ],
  'null and empty names': [
    (work) => [{ name: null }, { name: '' }, { address: null }].map((body) => Object.keys(work.parsePatch(body).errors ?? {})),
    [['name'], ['name'], ['address']],
  ],
  'nothing, and nothing that counts': [
    (work) => [work.parsePatch({}), work.parsePatch({ role: 'admin' })],
    [{ ok: false, errors: { body: ['Nothing to change'] } }, { ok: false, errors: { body: ['Nothing to change'] } }],
  ],
  'an empty address, and a stranger': [
    (work) => work.parsePatch({ address: {}, role: 'admin' }),
    { ok: true, value: { address: {} } },
  ],
};
