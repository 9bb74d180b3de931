export const work = 'signup.js';
export const cases = {
  'a form that is right': [
    (work) => work.parseSignup({ email: 'ada@example.org', password: 'correct horse', newsletter: true }),
    { ok: true, value: { email: 'ada@example.org', password: 'correct horse', newsletter: true } },
  ],
  'spaces, a default and a stranger': [
    (work) => work.parseSignup({ email: '  bob@example.org\n', password: ' 7 chars ', admin: true }),
    { ok: true, value: { email: 'bob@example.org', password: ' 7 chars ', newsletter: false } },
  ],
  'no e-mail address': [
    (work) => work.parseSignup({ email: 'eve at example.org', password: 'long enough' }),
    { ok: false, errors: { email: ['Not an e-mail address'] } },
  ],
  'two mistakes': [
    (work) => work.parseSignup({ email: '', password: '1234567' }),
    { ok: false, errors: { email: ['Not an e-mail address'], password: ['Too short'] } },
  ],
  'other types': [
    (work) => {
      const { ok, errors } = work.parseSignup({ email: 5, password: 'long enough', newsletter: 'yes' });
      return [ok, Object.keys(errors).sort()];
    },
    [false, ['email', 'newsletter']],
  ],
  'a password is missing': [
    (work) => {
      const { ok, errors } = work.parseSignup({ email: 'ada@example.org' });
      return [ok, Object.keys(errors)];
    },
    [false, ['password']],
  ],
};
