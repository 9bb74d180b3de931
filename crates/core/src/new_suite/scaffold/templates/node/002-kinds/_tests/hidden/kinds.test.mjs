@head@

// The work cannot read this file: see $TERCA_WORK.
const [program, ...first] = [process.env.TERCA_WORK, process.execPath].filter(Boolean);
const run = (...args) => {
  const { status, stdout } = spawnSync(program, [...first, ...args], { encoding: 'utf8' });
  return [status, stdout.trim()];
};
const kinds = "console.log(JSON.stringify(Object.entries(await import('@import@')).map(([name, value]) => [name, typeof value])))";
const [, listed] = run('--input-type=module', '--eval', kinds);

test('each export has its kind', () => {
  // Each of them is a process.
  for (const [name, kind] of JSON.parse(listed).slice(0, 10)) {
    const found = [name, ...run('kinds.mjs', name)];
    const expected = [name, 0, kind];
    assert.deepEqual(found, expected);
  }
});

test('a name that is not exported is missing', () => {
  const found = run('kinds.mjs', 'noSuchExport');
  const expected = [1, 'missing'];
  assert.deepEqual(found, expected);
});
