import * as v from 'valibot';

export async function parseUsername(input, isTaken) {
  const Username = v.pipeAsync(
    v.string(),
    v.trim(),
    v.toLowerCase(),
    v.regex(/^[a-z][a-z0-9-]{2,19}$/, 'Not a username'),
    v.checkAsync(async (name) => !(await isTaken(name)), 'Taken'),
  );
  // A pipeline goes on after a check that failed, unless it is told to stop: the lookup would be made all the same.
  const result = await v.safeParseAsync(Username, input, { abortPipeEarly: true });
  return result.success
    ? { ok: true, value: result.output }
    : { ok: false, messages: result.issues.map((issue) => issue.message) };
}
