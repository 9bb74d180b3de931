// node score.mjs CASES: prints the share of cases in which the work does what is expected of it.
//
// A file of cases exports `work`, the module that is tested, and `cases`: name → [function, expected]. Each function is
// called with the module, in a process of its own: a work that throws, hangs or ends its process loses that case and no
// other. $TERCA_WORK starts it, so that no work can read what is expected of it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const file = resolve(process.argv[2]);
const { work, cases } = await import(pathToFileURL(file));
if (!existsSync(work)) {
  console.log(JSON.stringify({ score: 0, message: `there is no ${work}` }));
  process.exit();
}

function outcome(run) {
  const script = `const work = await import(${JSON.stringify(pathToFileURL(resolve(work)))});
    const result = await (${run})(work);
    console.log('\\n' + JSON.stringify(result));`;
  const { PATH, HOME, TERCA_WORK } = process.env;
  const [program, ...first] = [TERCA_WORK, process.execPath].filter(Boolean);
  const child = spawnSync(program, [...first, '--input-type=module', '-e', script], {
    encoding: 'utf8', env: { PATH, HOME }, timeout: 10_000, killSignal: 'SIGKILL',
  });
  if (child.status !== 0) return { failed: child.stderr.match(/^\w*Error.*$/m)?.[0] ?? `exit status ${child.status}` };
  try {
    return { result: JSON.parse(child.stdout.trimEnd().split('\n').at(-1)) };
  } catch {
    return { failed: 'it gave no result' };
  }
}

const wrong = [];
for (const [name, [run, expected]] of Object.entries(cases)) {
  const { failed, result } = outcome(run);
  if (failed) wrong.push(`${name}: ${failed}`);
  else if (!isDeepStrictEqual(result, expected)) wrong.push(`${name}: got ${JSON.stringify(result)}`);
}
const all = Object.keys(cases).length;
for (const line of wrong) console.log(line);
const message = wrong.length ? `${wrong.length} of ${all} cases are wrong; ${wrong[0]}` : `all ${all} cases are right`;
console.log(JSON.stringify({ score: (all - wrong.length) / all, message }));
