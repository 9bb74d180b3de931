export const work = 'username.js';
export const cases = {
  'a name that is free': [
    async (work) => {
      const asked = [];
      const result = await work.parseUsername('  Ada-1815\t', async (name) => { asked.push(name); return false; });
      return [result, asked];
    },
    [{ ok: true, value: 'ada-1815' }, ['ada-1815']],
  ],
  'a name that is taken': [
    (work) => work.parseUsername('Grace', async (name) => name === 'grace'),
    { ok: false, messages: ['Taken'] },
  ],
  'no lookup for what is wrong anyway': [
    async (work) => {
      let lookups = 0;
      const results = [];
      for (const input of ['', ' ab ', '1ada', 'ada lovelace', 'a'.repeat(21), 'ädä']) {
        results.push(await work.parseUsername(input, async () => { lookups += 1; return true; }));
      }
      return [lookups, results.every(({ ok, messages }) => !ok && messages.join() === 'Not a username')];
    },
    [0, true],
  ],
  'both ends of the length': [
    (work) => Promise.all(['abc', 'a'.repeat(20)].map(async (name) => (await work.parseUsername(name, async () => false)).ok)),
    [true, true],
  ],
  'what is no text': [
    async (work) => {
      let lookups = 0;
      const isTaken = async () => { lookups += 1; return false; };
      const results = [await work.parseUsername(42, isTaken), await work.parseUsername(undefined, isTaken)];
      return [lookups, results.map(({ ok, messages }) => [ok, messages.length])];
    },
    [0, [[false, 1], [false, 1]]],
  ],
  'a lookup that fails': [
    (work) => work.parseUsername('grace', async () => { throw new Error('no database'); }).then(() => 'resolved', (error) => error.message),
    'no database',
  ],
};
