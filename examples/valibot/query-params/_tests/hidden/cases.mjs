export const work = 'query.js';
export const cases = {
  'everything given': [
    (work) => work.parseQuery({ page: '3', size: '50', sort: 'price', inStock: 'true' }),
    { page: 3, size: 50, sort: 'price', inStock: true },
  ],
  'nothing given': [
    (work) => work.parseQuery({}),
    { page: 1, size: 25, sort: 'newest', inStock: false },
  ],
  'everything wrong': [
    (work) => work.parseQuery({ page: '0', size: '30', sort: 'random', inStock: 'maybe', debug: '1' }),
    { page: 1, size: 25, sort: 'newest', inStock: false },
  ],
  'each for itself': [
    (work) => [
      work.parseQuery({ page: 'two', size: '10', sort: 'price', inStock: '1' }),
      work.parseQuery({ page: '7', size: '', sort: 'price', inStock: '0' }),
    ],
    [
      { page: 1, size: 10, sort: 'price', inStock: true },
      { page: 7, size: 25, sort: 'price', inStock: false },
    ],
  ],
  'pages that are none': [
    (work) => ['1.5', '-2', '', 'Infinity', '12', undefined, ['4', '5']].map((page) => work.parseQuery({ page }).page),
    [1, 1, 1, 1, 12, 1, 1],
  ],
  'no object': [
    (work) => [null, 'page=2', undefined].map((input) => work.parseQuery(input)),
    Array(3).fill({ page: 1, size: 25, sort: 'newest', inStock: false }),
  ],
};
