export const work = 'comments.js';
export const cases = {
  'a comment alone': [
    (work) => work.parseComment({ author: ' Ada ', text: ' kept ', likes: 3 }),
    { ok: true, value: { author: 'Ada', text: ' kept ', replies: [] } },
  ],
  'a comment with replies': [
    (work) => work.parseComment({
      author: 'Ada', text: 'a', replies: [{ author: 'Bob ', text: 'b', likes: 1, replies: [{ author: 'Eve', text: 'c' }] }],
    }),
    {
      ok: true,
      value: {
        author: 'Ada', text: 'a',
        replies: [{ author: 'Bob', text: 'b', replies: [{ author: 'Eve', text: 'c', replies: [] }] }],
      },
    },
  ],
  'mistakes at every depth': [
    (work) => work.parseComment({
      author: '  ', text: 'a',
      replies: [{ author: 'Bob', text: '' }, { author: 'Eve', text: 'b', replies: [{ author: '', text: 'x'.repeat(201) }] }],
    }),
    {
      ok: false,
      errors: {
        'author': ['Who?'],
        'replies.0.text': ['1 to 200 characters'],
        'replies.1.replies.0.author': ['Who?'],
        'replies.1.replies.0.text': ['1 to 200 characters'],
      },
    },
  ],
  'other types': [
    (work) => [{ author: 1, text: 'a' }, { author: 'Ada' }, { author: 'Ada', text: 'a', replies: [null] }, { author: 'Ada', text: 'a', replies: {} }]
      .map((input) => Object.keys(work.parseComment(input).errors ?? {})),
    [['author'], ['text'], ['replies.0'], ['replies']],
  ],
  'fifty levels': [
    (work) => {
      let input = { author: 'Ada', text: '' };
      for (let level = 0; level < 50; level += 1) input = { author: 'Ada', text: 'a', replies: [input] };
      return work.parseComment(input);
    },
    { ok: false, errors: { [`${'replies.0.'.repeat(50)}text`]: ['1 to 200 characters'] } },
  ],
};
