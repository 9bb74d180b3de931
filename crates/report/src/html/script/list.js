// The list of trials: its fields, its columns, its address.

const FIELDS = ['status', 'eval', 'variant', 'test', 'error', 'tag', 'tool', 'text'];
const fields = Object.fromEntries(FIELDS.map((name) => [name, find(`filter-${name}`)]));

/** Shows the rows that are wanted, and how many there are. */
function narrow() {
  if (!allRows) return;
  const counts = findRows();
  for (const name of FIELDS) if (name !== 'text') countOptions(name, counts.get(name));
  const all = allRows.length;
  const shown = shownRows.length;
  find('shown').textContent = (shown === all ? `${all} trials` : `${shown} of ${all} trials`) + (wanted.cause ? ' with one cause' : '');
  list.table.setAttribute('aria-rowcount', String(shown + 1));
  showSort();
  showRows();
}

const optionNames = (name) => [...fields[name].options].slice(1).map((option) => option.dataset.name ?? option.textContent);

/** Writes the counts beside the names of the options. */
function countOptions(name, counts) {
  for (const option of [...fields[name].options].slice(1)) {
    option.dataset.name ??= option.textContent;
    const text = `${option.dataset.name} (${counts.get(option.value) || 0})`;
    if (option.textContent !== text) option.textContent = text;
  }
}

/** Adds the values that are found in rows to the fields that have none of their own. */
function findOptions() {
  for (const name of ['test', 'error', 'tag', 'tool']) {
    const known = new Set([...fields[name].options].map((option) => option.value));
    const found = new Set(allRows.flatMap((row) => valuesOf(row, name)));
    for (const value of [...found].filter((value) => !known.has(value)).sort()) {
      fields[name].add(new Option(value, value));
    }
    fields[name].closest('label').hidden = fields[name].options.length === 1 && !(served && name === 'tool');
  }
}

function showSort() {
  for (const button of list.table.tHead.querySelectorAll('button')) {
    const is = wanted.sort.replace(/^-/, '') === button.dataset.sort;
    const cell = button.closest('th');
    if (is) cell.setAttribute('aria-sort', wanted.sort.startsWith('-') ? 'descending' : 'ascending');
    else cell.removeAttribute('aria-sort');
  }
}

/** Sorts by a column; again, the other way round; and once more, as it was. */
function sortBy(button) {
  const name = button.dataset.sort;
  const ways = button.hasAttribute('data-largest') ? [`-${name}`, name, ''] : [name, `-${name}`, ''];
  wanted.sort = ways[(ways.indexOf(wanted.sort) + 1) % ways.length];
  narrow();
  keepAddress();
}

/** Returns the address of the list as it is narrowed now. */
function address() {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted)) if (value) query.set(name, value);
  const text = query.toString();
  return text ? `#trials?${text}` : '#trials';
}

const keepAddress = () => history.replaceState(null, '', address());

/** Narrows the list as an address says. */
function narrowBy(query) {
  const before = address();
  for (const name of Object.keys(wanted)) wanted[name] = query.get(name) || '';
  if (address() === before) return;
  showFields();
  narrow();
  searchFor(wanted.find);
}

function showFields() {
  for (const name of FIELDS) fields[name].value = wanted[name];
}

/** Returns the numbers of the trials that are in the narrowed list, in its order. */
function listed() {
  if (!allRows) return [...list.rows.children].map((row) => Number(row.id.slice(4)));
  return shownRows.map((row) => row.id);
}

/** Moves to the next or the previous row of the list. */
function moveRow(by) {
  const ids = listed();
  const at = ids.indexOf(currentRow());
  const next = ids[at < 0 ? 0 : Math.max(0, Math.min(at + by, ids.length - 1))];
  if (next !== undefined) focusRow(next);
}

/** Returns the number of the trial whose row has the focus. */
function currentRow() {
  const row = document.activeElement.closest('#rows > tr');
  return row ? Number(row.id.slice(4)) : undefined;
}

/** Asks a server for the tools that trials used, which takes a moment: only when somebody wants to know. */
async function askForTools() {
  if (!served || !allRows || tools) return;
  tools = {};
  const answer = await fetch('tools');
  if (!answer.ok) return;
  tools = await answer.json();
  addTools();
  findOptions();
  showFields();
  narrow();
}

/** @type {?Object<string, string[]>} What the server has answered. */
let tools = null;

function addTools() {
  if (tools) for (const row of allRows) row.tool = tools[row.id] || [];
}

/** Asks for all rows. */
async function freshRows() {
  const rows = await loadRows();
  if (rows) putRows(rows);
}

/** Puts rows that have changed in the place of those before. */
async function mergeRows(rows) {
  await rowsReady;
  const merged = new Map((allRows || []).map((row) => [row.id, row]));
  for (const row of rows) merged.set(row.id, row);
  putRows([...merged.values()].sort((one, other) => one.rank - other.rank || one.id - other.id));
}

/** Shows other rows, and leaves the focus where it is. */
function putRows(rows) {
  const focused = currentRow();
  allRows = rows;
  addTools();
  findOptions();
  showFields();
  narrow();
  if (focused !== undefined && currentRow() !== focused && !overview.hidden) {
    find(`row-${focused}`)?.querySelector('a').focus({ preventScroll: true });
  }
  document.dispatchEvent(new Event('rows'));
}

/** Returns what the list knows about a trial. */
const rowOf = (id) => allRows?.find((row) => row.id === id);

/** Resolves when all rows are there. */
let rowsReady = Promise.resolve();

function startList() {
  const form = document.querySelector('form.filters');
  form.addEventListener('input', () => {
    for (const name of FIELDS) wanted[name] = fields[name].value;
    narrow();
    keepAddress();
  });
  fields.tool.addEventListener('focus', askForTools);
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () =>
    setTimeout(() => {
      for (const name of Object.keys(wanted)) if (name !== 'find') wanted[name] = '';
      narrow();
      keepAddress();
    }));
  list.table.tHead.addEventListener('click', (event) => {
    const button = event.target.closest('button');
    if (button) sortBy(button);
  });
  list.rows.addEventListener('click', (event) => {
    if (event.target.closest('a, input, button, label') || String(getSelection())) return;
    const row = event.target.closest('tr');
    if (row) location.hash = `#trial-${row.id.slice(4)}`;
  });
  startWindow();
  startPicked();
  startSearch();
  rowsReady = freshRows().catch(() => {});
  rowsReady.then(() => wanted.tool && askForTools());
}
