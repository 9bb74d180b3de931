// Two lists beside each other: what both have in the same order is on one line.

/** The longest table of comparisons. Longer lists are only compared at their ends. */
const MOST_COMPARISONS = 4_000_000;

/**
 * Returns pairs of places in two lists; null where only one of them has an entry.
 * @param {string[]} left
 * @param {string[]} right
 * @returns {[number | null, number | null][]}
 */
function align(left, right) {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start += 1;
  let end = 0;
  const rest = () => Math.min(left.length, right.length) - start - end;
  while (rest() > 0 && left[left.length - 1 - end] === right[right.length - 1 - end]) end += 1;
  /** @type {[?number, ?number][]} */
  const pairs = [];
  for (let at = 0; at < start; at += 1) pairs.push([at, at]);
  const middle = alignMiddle(left.slice(start, left.length - end), right.slice(start, right.length - end));
  for (const [one, other] of middle) pairs.push([one === null ? null : one + start, other === null ? null : other + start]);
  for (let at = end; at > 0; at -= 1) pairs.push([left.length - at, right.length - at]);
  return pairs;
}

/** Finds the longest list that is in both. */
function alignMiddle(left, right) {
  const [rows, columns] = [left.length, right.length];
  const pairs = [];
  if (rows * columns > MOST_COMPARISONS) {
    for (let at = 0; at < rows; at += 1) pairs.push([at, null]);
    for (let at = 0; at < columns; at += 1) pairs.push([null, at]);
    return pairs;
  }
  const wide = columns + 1;
  const lengths = new Uint16Array((rows + 1) * wide);
  for (let row = rows - 1; row >= 0; row -= 1) {
    for (let column = columns - 1; column >= 0; column -= 1) {
      const at = row * wide + column;
      lengths[at] = left[row] === right[column] ? lengths[at + wide + 1] + 1 : Math.max(lengths[at + wide], lengths[at + 1]);
    }
  }
  let [row, column] = [0, 0];
  while (row < rows || column < columns) {
    const at = row * wide + column;
    if (row < rows && column < columns && left[row] === right[column]) pairs.push([row++, column++]);
    else if (column >= columns || (row < rows && lengths[at + wide] >= lengths[at + 1])) pairs.push([row++, null]);
    else pairs.push([null, column++]);
  }
  return pairs;
}

/** Returns the lines of two texts as a diff. Lines that are the same far around are left out. */
function textDiff(before, after) {
  const near = 3;
  const [left, right] = [before, after].map((text) => (text ? text.split('\n') : []));
  const pairs = align(left, right);
  const differs = pairs.map(([one, other]) => one === null || other === null);
  const box = make('div', 'lines');
  let hidden = 0;
  const tell = () => {
    if (hidden) box.append(make('div', 'hunk', hidden === 1 ? '… 1 line is the same' : `… ${hidden} lines are the same`));
    hidden = 0;
  };
  pairs.forEach(([one, other], at) => {
    const isNear = differs.slice(Math.max(0, at - near), at + near + 1).includes(true);
    if (!isNear) {
      hidden += 1;
      return;
    }
    tell();
    const [name, kind, sign] = other === null ? ['del', 'removed', '-'] : one === null ? ['ins', 'added', '+'] : ['div', 'same', ' '];
    const line = make(name, kind);
    line.append(make('span', 'sign', sign), make('span', 'text', other === null ? left[one] : right[other]));
    box.append(line);
  });
  tell();
  box.tabIndex = 0;
  box.setAttribute('role', 'group');
  return box;
}
