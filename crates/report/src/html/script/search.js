// Words anywhere in what agents and tests wrote: chunk by chunk in a file, by the server otherwise.

/** The trials that are listed as found, and the places in each of them. */
const MOST_FOUND = 100;
const MOST_PLACES = 4;
const AROUND = 70;
/** The number of the search that goes on; a newer one ends it. */
let searchNumber = 0;
let searchedFor = '';

/** Returns the parts of a trial's page that have an address or a title of their own. */
function partsOf(article) {
  const steps = [...article.querySelectorAll('[id^="step-"]')];
  const sections = [...article.querySelectorAll('section.part')].filter((part) => !steps.some((step) => part.contains(step)));
  return [...steps, ...sections];
}

/** Returns the text of an element without the titles of its steps, with a space where something else begins. */
function spacedText(element) {
  const inline = ':not(span, code, i, em, strong, a)';
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let text = '';
  let last = null;
  while (walker.nextNode()) {
    if (walker.currentNode.parentElement.closest('.who, .number')) continue;
    const around = walker.currentNode.parentElement.closest(inline);
    if (last && around !== last) text += ' ';
    text += walker.currentNode.nodeValue;
    last = around;
  }
  return text;
}

/** Returns the places of the words in a trial's page. */
function placesIn(article, id, words) {
  const found = [];
  for (const part of partsOf(article)) {
    const text = spacedText(part);
    const at = text.toLowerCase().indexOf(words);
    if (at < 0) continue;
    const isStep = part.id.startsWith('step-');
    const name = isStep ? part.id.replace('step-', 'step ') : part.querySelector('h3')?.textContent || '';
    found.push({ href: isStep ? `#trial-${id}/${part.id}` : `#trial-${id}`, name, text, at });
  }
  return found;
}

/** Returns a line with the words marked. */
function excerptOf({ text, at }, words) {
  const line = document.createElement('span');
  const mark = document.createElement('mark');
  mark.textContent = text.slice(at, at + words.length);
  const before = text.slice(Math.max(0, at - AROUND), at);
  const after = text.slice(at + words.length, at + words.length + AROUND);
  line.append(at > AROUND ? `… ${before}` : before, mark, `${after} …`);
  return line;
}

function showFound(id, found, words) {
  const row = allRows?.find((one) => one.id === id);
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `#trial-${id}`;
  link.textContent = row ? `#${id} ${optionNames('eval')[row.eval]}` : `#${id}`;
  const about = row ? ` ${optionNames('variant')[row.variant]}, ${row.status[0]}` : '';
  item.append(link, about);
  const places = document.createElement('ul');
  for (const place of found.slice(0, MOST_PLACES)) {
    const line = document.createElement('li');
    const to = document.createElement('a');
    to.href = place.href;
    to.textContent = place.name;
    line.append(to, ' ', excerptOf(place, words));
    places.append(line);
  }
  if (found.length > MOST_PLACES) {
    const more = document.createElement('li');
    more.textContent = `and ${found.length - MOST_PLACES} more places`;
    places.append(more);
  }
  item.append(places);
  find('search-results').append(item);
}

/** Yields the numbers of the trials that may have the words, chunk by chunk, and how many were looked at. */
async function* candidatesInFile(words) {
  const chunks = new Map();
  for (const [id, place] of bodyPlaces()) chunks.set(place.chunk, [...(chunks.get(place.chunk) || []), [id, place]]);
  let looked = 0;
  for (const trials of chunks.values()) {
    const ids = [];
    for (const [id, place] of trials) {
      const text = plainText(await markupInFile(place), '').toLowerCase();
      if (text.includes(words)) ids.push(id);
    }
    looked += trials.length;
    yield { ids, looked };
  }
}

async function* candidatesOfServer(words) {
  const bytes = new TextEncoder().encode(words);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  for (let from = 0; from !== null; ) {
    const answer = await fetch(`search/${hex}/${from}`);
    if (!answer.ok) throw new Error('the server does not answer');
    const { found, next, looked } = await answer.json();
    yield { ids: found, looked };
    from = next;
  }
}

async function runSearch(words, number) {
  const progress = (text) => {
    find('search-progress').textContent = text;
  };
  let count = 0;
  const all = served ? allRows?.length : bodyPlaces().size;
  for await (const { ids, looked } of served ? candidatesOfServer(words) : candidatesInFile(words)) {
    for (const id of ids) {
      const markup = await markupOf(id);
      if (searchNumber !== number) return;
      const article = markup && articleOf(markup);
      const found = article ? placesIn(article, id, words) : [];
      // A server also finds what a page leaves out.
      if (!found.length && !served) continue;
      count += 1;
      showFound(id, found, words);
    }
    if (searchNumber !== number) return;
    if (count >= MOST_FOUND) return progress(`Found in ${count} trials, after ${looked} of ${all}. More words find fewer.`);
    progress(`Found in ${count} trials, ${looked} of ${all} searched …`);
  }
  progress(count === 1 ? 'Found in 1 trial.' : `Found in ${count} trials.`);
}

/** Searches for words, or ends a search. */
async function searchFor(words) {
  if (words === searchedFor) return;
  searchedFor = words;
  searchNumber += 1;
  const number = searchNumber;
  find('search-words').value = words;
  find('search-results').replaceChildren();
  find('search-progress').textContent = '';
  const normal = words.toLowerCase().trim();
  if (!normal) return;
  find('search-stop').hidden = false;
  await rowsReady;
  await runSearch(normal, number).catch((error) => {
    find('search-progress').textContent = `The search has ended: ${error.message}.`;
  });
  if (searchNumber === number) find('search-stop').hidden = true;
}

function startSearch() {
  const form = find('search');
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    wanted.find = find('search-words').value;
    keepAddress();
    searchFor(wanted.find);
  });
  find('search-words').addEventListener('search', () => {
    if (find('search-words').value) return;
    wanted.find = '';
    keepAddress();
    searchFor('');
  });
  find('search-stop').addEventListener('click', () => {
    searchNumber += 1;
    find('search-stop').hidden = true;
    find('search-progress').textContent += ' Stopped.';
  });
}
