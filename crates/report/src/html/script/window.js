// The rows that are in sight: only they are in the page, however many there are. All rows are of one height.

const SPARE_ROWS = 12;
const list = { table: all('table.list')[0], rows: find('rows'), above: find('above'), below: find('below') };
let rowHeight = 0;
/** All rows are in the page while it is printed. */
let isPrinted = false;

/** Returns the elements of rows: those that are in the page, where they are as they should be. */
function elementsOf(rows) {
  const isThere = (row) => find(`row-${row.id}`)?.terca === row.html;
  const missing = rows.filter((row) => !isThere(row));
  const template = document.createElement('template');
  template.innerHTML = missing.map((row) => row.html).join('');
  const made = new Map(missing.map((row, index) => [row.id, template.content.children[index]]));
  return rows.map((row) => {
    const element = made.get(row.id);
    if (!element) return find(`row-${row.id}`);
    element.terca = row.html;
    markPicked(element, row.id);
    return element;
  });
}

/** Returns the first row in sight, and the one after the last. */
function rowsInSight() {
  if (isPrinted || !rowHeight) return [0, Math.min(shownRows.length, isPrinted ? 5000 : 2 * SPARE_ROWS)];
  const top = list.table.getBoundingClientRect().top + list.table.tHead.offsetHeight;
  const within = (at) => Math.max(0, Math.min(at, shownRows.length));
  const last = within(Math.ceil((window.innerHeight - top) / rowHeight) + SPARE_ROWS);
  const first = within(Math.min(Math.floor(-top / rowHeight), shownRows.length) - SPARE_ROWS);
  // Some are there even if the list is out of sight, for those who do not look.
  return [first, Math.max(last, within(first + 2 * SPARE_ROWS))];
}

/** Puts the rows that are in sight into the page. What is there already is not touched, so that it keeps the focus. */
function showRows() {
  if (!allRows || overview.hidden) return;
  const [first, last] = rowsInSight();
  const elements = elementsOf(shownRows.slice(first, last));
  const stays = new Set(elements);
  for (const old of [...list.rows.children]) if (!stays.has(old)) old.remove();
  let at = list.rows.firstElementChild;
  elements.forEach((element, index) => {
    element.setAttribute('aria-rowindex', String(first + index + 2));
    if (element === at) at = at.nextElementSibling;
    else list.rows.insertBefore(element, at);
  });
  spareRoom(list.above, first);
  spareRoom(list.below, shownRows.length - last);
  measureRows();
}

/** Takes the room of so many rows. */
function spareRoom(element, rows) {
  element.hidden = rows === 0;
  element.querySelector('td').style.height = `${rows * rowHeight}px`;
}

function measureRows() {
  const height = list.rows.firstElementChild?.getBoundingClientRect().height || 0;
  if (!height || Math.abs(height - rowHeight) < 0.5) return;
  rowHeight = height;
  showRows();
}

/** Scrolls until a row is in sight, no further than needed, and puts it into the page. */
function revealRow(index) {
  if (!rowHeight) showRows();
  const head = list.table.tHead.getBoundingClientRect();
  const top = list.table.getBoundingClientRect().top + list.table.tHead.offsetHeight + index * rowHeight;
  const highest = Math.max(head.bottom, 0) + rowHeight / 2;
  const lowest = window.innerHeight - rowHeight * 1.5;
  if (top < highest) window.scrollBy(0, top - highest);
  else if (top > lowest) window.scrollBy(0, top - lowest);
  showRows();
}

/** Scrolls to a row where that is needed, and gives it the focus. */
function focusRow(id) {
  const index = shownRows.findIndex((row) => row.id === id);
  if (index >= 0) revealRow(index);
  else showRows();
  find(`row-${id}`)?.querySelector('a').focus({ preventScroll: true });
}

function startWindow() {
  let isWaiting = false;
  const soon = () => {
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      showRows();
    });
  };
  window.addEventListener('scroll', soon, { passive: true });
  window.addEventListener('resize', soon);
  window.addEventListener('beforeprint', () => {
    isPrinted = true;
    showRows();
  });
  window.addEventListener('afterprint', () => {
    isPrinted = false;
    showRows();
  });
}
