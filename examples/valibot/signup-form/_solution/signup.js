import * as v from 'valibot';

const Signup = v.object({
  email: v.pipe(v.string(), v.trim(), v.email('Not an e-mail address')),
  password: v.pipe(v.string(), v.minLength(8, 'Too short')),
  newsletter: v.optional(v.boolean(), false),
});

export function parseSignup(input) {
  const result = v.safeParse(Signup, input);
  return result.success
    ? { ok: true, value: result.output }
    : { ok: false, errors: v.flatten(result.issues).nested };
}
