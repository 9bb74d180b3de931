// Makes a part of the page like a new one, and leaves what has not changed: open folds, focus and selection stay.

/** Elements that a reader opens and closes keep that state. */
const KEPT = { DETAILS: ['open'], DIALOG: ['open'] };

/**
 * Makes an element like a fresh one of the same kind.
 * @param {Element} old
 * @param {Element} fresh
 */
function morph(old, fresh) {
  if (old.isEqualNode(fresh) || isTypedInto(old)) return;
  if (old.tagName !== fresh.tagName || isField(old)) {
    old.replaceWith(document.adoptNode(fresh));
    return;
  }
  morphAttributes(old, fresh);
  morphChildren(old, fresh);
}

const isField = (element) => /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);

/** Returns whether a person has written something that nobody has kept yet. */
function isTypedInto(element) {
  return isField(element) && (element === document.activeElement || element.value !== element.defaultValue);
}

function morphAttributes(old, fresh) {
  const kept = KEPT[old.tagName] || [];
  for (const { name } of [...old.attributes]) {
    if (!fresh.hasAttribute(name) && !kept.includes(name)) old.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (old.getAttribute(name) !== value && !kept.includes(name)) old.setAttribute(name, value);
  }
}

function morphChildren(old, fresh) {
  const byId = new Map([...old.children].filter((child) => child.id).map((child) => [child.id, child]));
  let at = old.firstChild;
  for (const node of [...fresh.childNodes]) {
    const known = node.nodeType === Node.ELEMENT_NODE && node.id ? byId.get(node.id) : null;
    if (known && known !== at) old.insertBefore(known, at);
    const match = known || (at && isAlike(at, node) ? at : null);
    if (!match) {
      old.insertBefore(document.adoptNode(node), at);
      continue;
    }
    at = match.nextSibling;
    if (node.nodeType === Node.ELEMENT_NODE) morph(match, node);
    else if (match.nodeValue !== node.nodeValue) match.nodeValue = node.nodeValue;
  }
  while (at) {
    const next = at.nextSibling;
    at.remove();
    at = next;
  }
}

/** Returns whether one node can become the other. */
function isAlike(one, other) {
  return one.nodeType === other.nodeType && one.nodeName === other.nodeName && (one.id || '') === (other.id || '');
}
