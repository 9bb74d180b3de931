import {
  coerce, email, flatten, integer, maxValue, merge, minLength, minValue, number, object, optional, parse, special, string,
  toTrimmed, transform,
} from 'valibot';

const Server = object({
  host: string([toTrimmed(), minLength(1, 'A host is needed')]),
  port: coerce(number([integer('Not a port'), minValue(1, 'Not a port'), maxValue(65535, 'Not a port')]), Number),
});

const Owner = object({
  contact: string([toTrimmed(), email('Not an e-mail address')]),
  since: optional(special((input) => input instanceof Date, 'Not a date')),
});

const Settings = merge([
  Server,
  Owner,
  object({ tags: transform(string(), (text) => text.split(',').filter((tag) => tag !== '')) }),
]);

export function readSettings(input) {
  try {
    return { ok: true, value: parse(Settings, input) };
  } catch (error) {
    return { ok: false, errors: flatten(error).nested };
  }
}
