// Where the page of a trial comes from: a chunk of the file, or the server.

/** Chunks that stay open, so that neighbours open at once. */
const MOST_OPEN = 4;
/** @type {Map<Element, Promise<Uint8Array>>} The one that was used last comes last. */
const openChunks = new Map();

/** Where the trials are: in which chunk, from which byte on, and how many. */
const bodyPlaces = (() => {
  /** @type {Map<number, {chunk: HTMLTemplateElement, start: number, length: number}>} */
  let found = null;
  return () => {
    if (found) return found;
    found = new Map();
    for (const chunk of all('template[data-trials]')) {
      const numbers = chunk.dataset.trials.split(' ').map(Number);
      let start = 0;
      for (let at = 0; at < numbers.length; at += 2) {
        found.set(numbers[at], { chunk, start, length: numbers[at + 1] });
        start += numbers[at + 1];
      }
    }
    return found;
  };
})();

function openChunk(chunk) {
  const bytes = openChunks.get(chunk) || unpacked(chunk);
  openChunks.delete(chunk);
  openChunks.set(chunk, bytes);
  if (openChunks.size > MOST_OPEN) openChunks.delete(openChunks.keys().next().value);
  return bytes;
}

/** Returns the markup of a trial's page that is in the file. */
async function markupInFile({ chunk, start, length }) {
  return asText((await openChunk(chunk)).subarray(start, start + length));
}

/** Returns the markup of a trial's page, or null where there is no such trial. */
async function markupOf(id) {
  const place = bodyPlaces().get(id);
  if (place) return markupInFile(place);
  if (!served) return null;
  await rowsReady;
  if (allRows && !allRows.some((row) => row.id === id)) return null;
  const answer = await fetch(`trials/${id}`);
  return answer.ok ? answer.text() : null;
}

function articleOf(markup) {
  return new DOMParser().parseFromString(markup, 'text/html').querySelector('article');
}

async function bodyOf(id) {
  if (!canUnpack && bodyPlaces().has(id)) {
    const note = document.createElement('p');
    note.textContent = 'This browser is too old to open trials: it cannot decompress.';
    return note;
  }
  const markup = await markupOf(id);
  const article = markup && articleOf(markup);
  return article ? document.importNode(article, true) : null;
}
