export const work = 'password.js';
export const cases = {
  'a change that is right': [
    (work) => work.parseChange({ current: 'old', next: 'twelve chars', again: 'twelve chars' }),
    { ok: true, value: { current: 'old', next: 'twelve chars', again: 'twelve chars' } },
  ],
  'they differ': [
    (work) => work.parseChange({ current: 'old', next: 'twelve chars', again: 'twelve char5' }),
    { ok: false, errors: { again: ['Does not match'] } },
  ],
  'they differ, and another field is empty': [
    (work) => work.parseChange({ current: '', next: 'twelve chars', again: 'thirteen chars' }),
    { ok: false, errors: { current: ['Needed'], again: ['Does not match'] } },
  ],
  'they differ, and another field is not there': [
    (work) => {
      const { ok, errors } = work.parseChange({ next: 'twelve chars', again: 'thirteen chars' });
      return [ok, Object.keys(errors).sort(), errors.again];
    },
    [false, ['again', 'current'], ['Does not match']],
  ],
  'they differ, and one is too short': [
    (work) => work.parseChange({ current: 'old', next: 'short', again: 'other' }),
    { ok: false, errors: { next: ['Too short'], again: ['Does not match'] } },
  ],
  'they are the same and too short': [
    (work) => work.parseChange({ current: 'old', next: 'short', again: 'short' }),
    { ok: false, errors: { next: ['Too short'] } },
  ],
};
