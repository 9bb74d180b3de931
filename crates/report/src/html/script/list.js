// The list of trials.

const fields = { status: find('filter-status'), eval: find('filter-eval'), variant: find('filter-variant'), text: find('filter-text') };
const rows = () => [...find('rows').children];

function narrow() {
  const words = fields.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows()) {
    const data = row.dataset;
    const wanted = ['status', 'eval', 'variant'].every((name) => !fields[name].value || fields[name].value === data[name]);
    const text = wanted && words.length ? row.textContent.toLowerCase() : '';
    row.hidden = !(wanted && words.every((word) => text.includes(word)));
    shown += row.hidden ? 0 : 1;
  }
  const all = rows().length;
  find('shown').textContent = shown === all ? `${all} trials` : `${shown} of ${all} trials`;
}

/** Returns the address of the list as it is narrowed now. */
function address() {
  const query = new URLSearchParams();
  for (const [name, field] of Object.entries(fields)) if (field.value) query.set(name, field.value);
  const text = query.toString();
  return text ? `#trials?${text}` : '#trials';
}

/** Narrows the list as an address says. */
function narrowBy(query) {
  for (const [name, field] of Object.entries(fields)) field.value = query.get(name) || '';
  narrow();
}

/** Returns the numbers of the trials that are in the narrowed list, in its order. */
function listed() {
  return rows()
    .filter((row) => !row.hidden)
    .map((row) => Number(row.id.slice(4)));
}

function startList() {
  const changed = () => {
    narrow();
    history.replaceState(null, '', address());
  };
  document.addEventListener('input', (event) => {
    if (event.target.closest('form.filters')) changed();
  });
  const form = document.querySelector('form.filters');
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(changed));
  narrow();
}
