// Makes a part of the page like a new one, and leaves what has not changed: open folds, focus and selection stay.

// An element with `data-scripted` says what the script says, and is left as it is.

/** Elements that a reader opens and closes keep that state. */
const KEPT = { DETAILS: ['open'], DIALOG: ['open'] };

/**
 * Makes an element like a fresh one of the same kind.
 * @param {Element} old
 * @param {Element} fresh
 */
function morph(old, fresh) {
  if (old.isEqualNode(fresh) || isTypedInto(old) || old.hasAttribute('data-scripted')) return;
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
    const match = byId.get(node.id) || nextAlike(at, node);
    if (!match) {
      old.insertBefore(document.adoptNode(node), at);
      continue;
    }
    if (match !== at && node.id) old.insertBefore(match, at);
    // What is between them is gone.
    else while (at !== match) at = removed(at);
    at = match.nextSibling;
    if (node.nodeType === Node.ELEMENT_NODE) morph(match, node);
    else if (match.nodeValue !== node.nodeValue) match.nodeValue = node.nodeValue;
  }
  while (at) at = removed(at);
}

/** Removes a node, and returns the one after it. */
function removed(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

/** Returns the first node from here on that can become another one: of the same kind, and without an id. */
function nextAlike(from, node) {
  if (node.id) return null;
  for (let at = from; at; at = at.nextSibling) {
    if (!at.id && at.nodeName === node.nodeName && at.className === node.className) return at;
    // A node without a class is like too many others.
    if (!node.className) return null;
  }
  return null;
}
