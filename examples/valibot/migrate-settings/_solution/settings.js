import * as v from 'valibot';

const Server = v.object({
  host: v.pipe(v.string(), v.trim(), v.minLength(1, 'A host is needed')),
  port: v.pipe(
    v.unknown(),
    v.transform(Number),
    v.number(),
    v.integer('Not a port'),
    v.minValue(1, 'Not a port'),
    v.maxValue(65535, 'Not a port'),
  ),
});

const Owner = v.object({
  contact: v.pipe(v.string(), v.trim(), v.email('Not an e-mail address')),
  since: v.optional(v.custom((input) => input instanceof Date, 'Not a date')),
});

const Settings = v.object({
  ...Server.entries,
  ...Owner.entries,
  tags: v.pipe(v.string(), v.transform((text) => text.split(',').filter((tag) => tag !== ''))),
});

export function readSettings(input) {
  const result = v.safeParse(Settings, input);
  return result.success
    ? { ok: true, value: result.output }
    : { ok: false, errors: v.flatten(result.issues).nested };
}
