// The library in the workspace says what is right. Programs run in processes of their own, so that the work cannot end
// this test early.
@head@

// The work cannot read this file: see $TERCA_WORK.
const [program, ...first] = [process.env.TERCA_WORK, process.execPath].filter(Boolean);
const run = (...args) => {
  const { status, stdout, stderr } = spawnSync(program, [...first, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return stdout.trim().split('\n');
};

test('every export is listed', () => {
  const list = "console.log(Object.keys(await import('@import@')).join('\\n'))";
  const names = run('--input-type=module', '--eval', list);
  const expected = names.filter((name) => !['__esModule', 'module.exports'].includes(name)).sort();
  const found = run('exports.mjs');
  assert.deepEqual(found, expected);
});
