import * as v from 'valibot';

const LENGTH = '1 to 200 characters';

const Comment = v.object({
  author: v.pipe(v.string(), v.trim(), v.nonEmpty('Who?')),
  text: v.pipe(v.string(), v.minLength(1, LENGTH), v.maxLength(200, LENGTH)),
  replies: v.optional(v.array(v.lazy(() => Comment)), []),
});

export function parseComment(input) {
  const result = v.safeParse(Comment, input);
  return result.success
    ? { ok: true, value: result.output }
    : { ok: false, errors: v.flatten(result.issues).nested };
}
