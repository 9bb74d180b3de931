// Two trials beside each other: what their agents were given, what they did, and what they made.

/** The two trials that are open, or null. */
let paired = null;

/** Makes an element with a text. */
function make(name, kind, text) {
  const element = document.createElement(name);
  if (kind) element.className = kind;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Returns a copy of an element without the addresses of its parts, which would be twice in the page. */
function copyOf(element) {
  const copy = element.cloneNode(true);
  for (const part of [copy, ...copy.querySelectorAll('[id]')]) part.removeAttribute('id');
  return copy;
}

/** Returns the texts of all blocks in an element, without records as they are. */
function textOf(element) {
  const blocks = [...element.querySelectorAll('pre')].filter((block) => !block.closest('.raw'));
  return blocks.map((block) => block.textContent).join('\n');
}

async function openPair(first, second) {
  if (opened === null) place = window.scrollY;
  opened = first;
  paired = [first, second];
  const wanted = paired;
  const bodies = await Promise.all(paired.map(bodyOrReason));
  if (paired !== wanted) return;
  stage.replaceChildren(bodies.find((body) => !body.matches('article')) || pairPage(bodies));
  overview.hidden = true;
  stage.hidden = false;
  neighbours();
  const heading = stage.querySelector('h2');
  document.title = heading ? `${heading.textContent} · ${title}` : title;
  window.scrollTo(0, 0);
  if (heading) heading.focus({ preventScroll: true });
  stage.querySelector('.divergence')?.scrollIntoView({ block: 'center' });
}

function pairPage(articles) {
  const page = make('article', 'pair');
  const name = articles[0].querySelector('h2').firstChild.textContent;
  const heading = make('h2', '', `${name}: #${paired[0]} and #${paired[1]}`);
  heading.tabIndex = -1;
  heading.setAttribute('aria-level', '1');
  page.append(heading, pairHeads(articles), pairGiven(articles));
  page.append(pairPart('Tests', 'tests', articles, (article) => article.querySelector('.part-tests .tests')));
  page.append(pairSteps(articles), pairFiles(articles));
  return page;
}

/** Returns a section with a title. */
function pairSection(text, kind) {
  const section = make('section', `part ${kind}`);
  const heading = make('h3', '', text);
  heading.setAttribute('aria-level', '2');
  section.append(heading);
  return section;
}

/** Returns two cells beside each other. */
function pairRow(left, right, kind) {
  const row = make('div', `two ${kind || ''}`);
  [left, right].forEach((content, at) => {
    const cell = make('div', 'side');
    // A phone shows them below each other.
    cell.dataset.of = `#${paired[at]}`;
    if (content) cell.append(content);
    row.append(cell);
  });
  return row;
}

/** Who ran, how it ended, and the other trials of the eval, one click away. */
function pairHeads(articles) {
  const heads = articles.map((article, at) => {
    const box = make('div', 'pair-head');
    const link = make('a', '', `Trial #${paired[at]}`);
    link.href = `#trial-${paired[at]}`;
    const facts = copyOf(article.querySelector('header .facts'));
    facts.prepend(link);
    box.append(facts);
    const siblings = article.querySelector('.siblings');
    if (siblings) {
      const copy = copyOf(siblings);
      copy.querySelector('.compare')?.remove();
      for (const other of copy.querySelectorAll('a.sibling')) {
        const id = other.getAttribute('href').slice('#trial-'.length);
        other.setAttribute('href', at === 0 ? `#pair-${id}-${paired[1]}` : `#pair-${paired[0]}-${id}`);
      }
      box.append(copy);
    }
    const figures = article.querySelector('.figures');
    if (figures) box.append(copyOf(figures));
    return box;
  });
  return pairRow(heads[0], heads[1], 'heads');
}

/** What the agents were given: the differences, line by line, and the names of what is the same. */
function pairGiven(articles) {
  const section = pairSection('Given to the agents', 'part-given');
  const [left, right] = articles.map((article) => {
    const entries = [...article.querySelectorAll('[data-given]')];
    return new Map(entries.map((entry) => [entry.dataset.given, textOf(entry)]));
  });
  const same = [];
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    const [before, after] = [left.get(name) ?? '', right.get(name) ?? ''];
    if (before === after) {
      same.push(name);
      continue;
    }
    const box = make('div', 'edit');
    box.dataset.differs = name;
    const lines = textDiff(before, after);
    lines.setAttribute('aria-label', `Difference of ${name}`);
    box.append(make('p', 'who', name), lines);
    section.append(box);
  }
  if (same.length) section.append(make('p', 'quiet', `The same: ${same.join(', ')}`));
  if (!left.size && !right.size) section.append(make('p', 'quiet', 'Not recorded.'));
  return section;
}

function pairPart(text, kind, articles, partOf) {
  const section = pairSection(text, `part-${kind}`);
  const parts = articles.map((article) => {
    const part = partOf(article);
    return part ? copyOf(part) : make('p', 'quiet', 'None.');
  });
  section.append(pairRow(parts[0], parts[1]));
  return section;
}

/** The steps, aligned by calls of the same tool with the same main argument. */
function pairSteps(articles) {
  const section = pairSection('Transcripts', 'part-transcript');
  const [left, right] = articles.map((article) => [...article.querySelectorAll('.session > *')]);
  const callsOf = (steps) => steps.filter((step) => step.matches('.tool'));
  const calls = [callsOf(left), callsOf(right)];
  const keys = calls.map((list) => list.map((step) => step.dataset.title));
  const anchors = align(keys[0], keys[1]).filter(([one, other]) => one !== null && other !== null);
  const rows = make('div', 'session');
  let [atLeft, atRight, isDivided] = [0, 0, false];
  const add = (one, other, differs) => {
    const row = pairRow(one && copyOf(one), other && copyOf(other), differs ? 'differs' : 'alike');
    if (differs && !isDivided) {
      isDivided = true;
      row.classList.add('divergence');
      rows.append(make('p', 'divergence-label', 'The first difference between their calls'));
    }
    rows.append(row);
  };
  const fill = (toLeft, toRight) => {
    while (atLeft < toLeft || atRight < toRight) {
      const [one, other] = [atLeft < toLeft ? left[atLeft++] : null, atRight < toRight ? right[atRight++] : null];
      add(one, other, [one, other].some((step) => step?.matches('.tool')));
    }
  };
  for (const [one, other] of anchors) {
    const [first, second] = [calls[0][one], calls[1][other]];
    fill(left.indexOf(first), right.indexOf(second));
    add(first, second, false);
    [atLeft, atRight] = [atLeft + 1, atRight + 1];
  }
  fill(left.length, right.length);
  if (!isDivided) section.append(make('p', 'quiet', 'Both made the same calls.'));
  section.append(rows);
  return section;
}

/** The changes of each file that at least one of them has changed. */
function pairFiles(articles) {
  const section = pairSection('Changes', 'part-changes');
  const [left, right] = articles.map((article) => {
    const files = [...article.querySelectorAll('.diff > .file')];
    return new Map(files.map((file) => [file.dataset.file, file]));
  });
  const diff = make('div', 'diff');
  for (const name of new Set([...left.keys(), ...right.keys()])) {
    const sides = [left, right].map((files) => (files.has(name) ? copyOf(files.get(name)) : make('p', 'quiet', `${name}: not changed`)));
    diff.append(pairRow(sides[0], sides[1]));
  }
  section.append(left.size || right.size ? diff : make('p', 'quiet', 'Neither has changed a file.'));
  return section;
}
