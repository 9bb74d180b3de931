// The rows of the list as data: those that are wanted, in the order that is wanted.

/**
 * A row as `rows.rs` writes it.
 * @typedef {{id: number, status: string[], eval: number, variant: number, test: string[], tag: string[], tool: string[],
 *   error: ?string, cause: string[], rank: number, repetition: number, score: ?number, time: ?number, tokens: ?number,
 *   cost: ?number, outcome: string, html: string, text?: string}} Row
 */

/** What the address says about the list. */
const wanted = { status: '', eval: '', variant: '', test: '', error: '', tag: '', tool: '', cause: '', text: '', sort: '', find: '' };
/** What a reader can choose from, with counts. */
const FACETS = ['status', 'eval', 'variant', 'test', 'error', 'tag', 'tool', 'cause'];

/** @type {?Row[]} All rows in the order of Terca; null until they are there. */
let allRows = null;
/** @type {Row[]} */
let shownRows = [];

async function loadRows() {
  if (served) {
    const answer = await fetch('rows');
    return answer.ok ? answer.json() : null;
  }
  const packed = find('all-rows');
  return packed && canUnpack ? JSON.parse(asText(await unpacked(packed))) : null;
}

/** Returns the values of a row for one of the facets. */
function valuesOf(row, facet) {
  const value = row[facet];
  if (Array.isArray(value)) return value;
  return value === null ? [] : [String(value)];
}

/** Returns what the markup of Terca says, with something in the place of its tags. */
function plainText(html, between) {
  const entities = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' };
  return html.replace(/<[^>]*>/g, between).replace(/&(?:lt|gt|quot|amp);/g, (entity) => entities[entity]);
}

function hasWords(row, words) {
  if (!words.length) return true;
  row.text ??= plainText(row.html, ' ').toLowerCase();
  return words.every((word) => row.text.includes(word));
}

/**
 * Finds the rows that are wanted, and counts the values of each facet in the rows that all other facets let pass.
 * @returns {Map<string, Map<string, number>>}
 */
function findRows() {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = new Map(FACETS.map((facet) => [facet, new Map()]));
  const count = (row, facet) => {
    const of = counts.get(facet);
    for (const value of valuesOf(row, facet)) of.set(value, (of.get(value) || 0) + 1);
  };
  shownRows = [];
  for (const row of allRows) {
    if (!hasWords(row, words)) continue;
    const against = FACETS.filter((facet) => wanted[facet] && !valuesOf(row, facet).includes(wanted[facet]));
    if (against.length === 0) shownRows.push(row);
    for (const facet of FACETS) {
      if (against.length === 0 || (against.length === 1 && against[0] === facet)) count(row, facet);
    }
  }
  sortRows();
  return counts;
}

/** Sorts by a column, `score` or `-score`; what is not known comes last both ways. */
function sortRows() {
  const column = wanted.sort.replace(/^-/, '');
  if (!column) return;
  const sign = wanted.sort.startsWith('-') ? -1 : 1;
  const names = { eval: optionNames('eval'), variant: optionNames('variant') };
  const keyOf = (row) => {
    const key = names[column] ? names[column][row[column]] : row[column];
    return key === undefined || key === '' ? null : key;
  };
  const { compare } = new Intl.Collator('en', { numeric: true });
  shownRows.sort((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * (typeof a === 'number' ? a - b : compare(a, b)) || one.id - other.id;
  });
}
