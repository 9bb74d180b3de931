// The library that the suite put into the workspace says what is right. The work runs in a process of its own, so that
// it cannot end this test early.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
@test@
import * as library from '@import@';

test('every export is listed', () => {
  const expected = Object.keys(library).filter((name) => !['__esModule', 'module.exports'].includes(name));
  const printed = execFileSync(process.execPath, ['exports.mjs'], { encoding: 'utf8' });
  assert.deepEqual(printed.trim().split('\n'), expected.sort());
});
