// Two trials that are chosen in the list, to be seen side by side.

/** @type {number[]} The older one first. */
let picked = [];

function markPicked(element, id) {
  element.querySelector('input[name=pick]').checked = picked.includes(id);
}

/** Chooses a trial, or no longer. A third one takes the place of the first. */
function pick(id) {
  picked = picked.includes(id) ? picked.filter((other) => other !== id) : [...picked, id].slice(-2);
  showPicked();
}

function showPicked() {
  for (const row of list.rows.children) markPicked(row, Number(row.id.slice(4)));
  const bar = find('picked');
  bar.hidden = picked.length === 0;
  bar.replaceChildren();
  if (picked.length === 1) bar.append(`Trial ${picked[0]} is chosen. Choose another to see both side by side. `);
  if (picked.length === 2) {
    const link = document.createElement('a');
    link.href = `#pair-${picked[0]}-${picked[1]}`;
    link.textContent = `See trials ${picked[0]} and ${picked[1]} side by side`;
    bar.append(link, ' ');
  }
  const clear = document.createElement('button');
  clear.type = 'button';
  clear.textContent = 'Choose none';
  clear.addEventListener('click', () => {
    picked = [];
    showPicked();
  });
  bar.append(clear);
}

/** Chooses the row that has the focus. The second one opens both. */
function pickCurrent() {
  const id = currentRow();
  if (id === undefined) return;
  pick(id);
  if (picked.length === 2) location.hash = `#pair-${picked[0]}-${picked[1]}`;
}

function startPicked() {
  list.rows.addEventListener('change', (event) => {
    if (event.target.name === 'pick') pick(Number(event.target.value));
  });
}
