import * as v from 'valibot';

const FLAGS = { 1: true, true: true, 0: false, false: false };

const number = (...checks) => v.pipe(v.string(), v.transform(Number), v.number(), ...checks);

const Query = v.object({
  page: v.fallback(number(v.safeInteger(), v.minValue(1)), 1),
  size: v.fallback(number(v.values([10, 25, 50])), 25),
  sort: v.fallback(v.picklist(['newest', 'price']), 'newest'),
  inStock: v.fallback(v.pipe(v.picklist(Object.keys(FLAGS)), v.transform((text) => FLAGS[text])), false),
});

export function parseQuery(input) {
  const result = v.safeParse(Query, input);
  return result.success ? result.output : v.parse(Query, {});
}
