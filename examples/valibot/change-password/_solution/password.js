import * as v from 'valibot';

const Change = v.pipe(
  v.object({
    current: v.pipe(v.string(), v.nonEmpty('Needed')),
    next: v.pipe(v.string(), v.minLength(12, 'Too short')),
    again: v.string(),
  }),
  v.forward(
    v.partialCheck([['next'], ['again']], ({ next, again }) => next === again, 'Does not match'),
    ['again'],
  ),
);

export function parseChange(input) {
  const result = v.safeParse(Change, input);
  return result.success
    ? { ok: true, value: result.output }
    : { ok: false, errors: v.flatten(result.issues).nested };
}
