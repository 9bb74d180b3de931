// The keys of a page.

/** What a key does; a key that is not here is the browser's. */
const KEYS = {
  '?': () => find('keys').showModal(),
  '/': () => inList(() => fields.text.focus()),
  s: () => inList(() => find('search-words').focus()),
  g: () => {
    location.hash = address();
  },
  x: () => inList(pickCurrent),
  j: () => (isListShown() ? moveRow(1) : goBeside(1)),
  k: () => (isListShown() ? moveRow(-1) : goBeside(-1)),
};

const isListShown = () => !overview.hidden;

function inList(action) {
  if (isListShown()) action();
}

function goBeside(by) {
  const id = opened === null ? undefined : beside(by);
  if (id !== undefined) location.hash = `#trial-${id}`;
}

function startKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || find('keys').open) return;
    const typing = targetOf(event).matches('input:not([type=checkbox]), select, textarea');
    if (event.key === 'Escape' && typing) targetOf(event).blur();
    else if (event.key === 'Escape' && !isListShown()) location.hash = address();
    else if (typing) return;
    else if (opened !== null && trialKey(event)) return;
    else if (Object.hasOwn(KEYS, event.key)) {
      event.preventDefault();
      KEYS[event.key]();
    }
  });
  find('show-keys').addEventListener('click', () => find('keys').showModal());
  find('keys-close').addEventListener('click', () => find('keys').close());
}
