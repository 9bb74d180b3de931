export const work = 'settings.js';
export const cases = {
  'settings that are right': [
    (work) => work.readSettings({ host: ' localhost ', port: '8080', contact: 'ada@example.org ', tags: 'a,b,,c' }),
    { ok: true, value: { host: 'localhost', port: 8080, contact: 'ada@example.org', tags: ['a', 'b', 'c'] } },
  ],
  'a date stays a date': [
    (work) => {
      const since = new Date(0);
      const { ok, value } = work.readSettings({ host: 'h', port: 1, contact: 'a@example.org', tags: '', since });
      return [ok, value.since instanceof Date, value.since === since, value.tags];
    },
    [true, true, true, []],
  ],
  'every message': [
    (work) => work.readSettings({ host: '   ', port: '80.5', contact: 'nobody', tags: '', since: '1970-01-01' }),
    {
      ok: false,
      errors: {
        host: ['A host is needed'], port: ['Not a port'], contact: ['Not an e-mail address'], since: ['Not a date'],
      },
    },
  ],
  'ports at both ends': [
    (work) => [0, 1, 65535, 65536].map((port) => work.readSettings({ host: 'h', port, contact: 'a@example.org', tags: '' }).ok),
    [false, true, true, false],
  ],
  'a port that is no number': [
    (work) => {
      const { ok, errors } = work.readSettings({ host: 'h', port: 'http', contact: 'a@example.org', tags: '' });
      return [ok, Object.keys(errors)];
    },
    [false, ['port']],
  ],
};
