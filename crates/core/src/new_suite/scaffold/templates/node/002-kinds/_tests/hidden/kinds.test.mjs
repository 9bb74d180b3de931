import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
@test@
import * as library from '@import@';

const kind = (name) => spawnSync(process.execPath, ['kinds.mjs', name], { encoding: 'utf8' });

test('each export has its kind', () => {
  for (const name of Object.keys(library)) {
    const { status, stdout } = kind(name);
    assert.deepEqual([name, stdout.trim(), status], [name, typeof library[name], 0]);
  }
});

test('a name that is not exported is missing', () => {
  const { status, stdout } = kind('noSuchExport');
  assert.deepEqual([stdout.trim(), status], ['missing', 1]);
});
