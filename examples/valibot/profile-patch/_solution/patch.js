import * as v from 'valibot';

const Patch = v.pipe(
  v.object({
    name: v.exactOptional(v.pipe(v.string(), v.nonEmpty())),
    bio: v.exactOptional(v.nullable(v.string())),
    address: v.exactOptional(
      v.object({ city: v.exactOptional(v.string()), country: v.exactOptional(v.string()) }),
    ),
  }),
  v.check((patch) => Object.keys(patch).length > 0, 'Nothing to change'),
);

export function parsePatch(input) {
  const result = v.safeParse(Patch, input);
  if (result.success) return { ok: true, value: result.output };
  const { root, nested } = v.flatten(result.issues);
  return { ok: false, errors: root ? { body: root, ...nested } : nested };
}
