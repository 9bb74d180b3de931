// What the script adds to the page of a trial: an outline, a search, buttons, and the way to a step.

/** Adds all of it. */
function dress(article) {
  for (const step of article.querySelectorAll('.session > .step')) addCopy(step);
  for (const part of article.querySelectorAll('.part-prompt, .diff > .file')) addCopy(part);
  const transcript = article.querySelector('.part-transcript .session');
  if (transcript) transcript.before(trialTools(article));
  const list = outline(article);
  if (list) {
    article.prepend(list);
    article.classList.add('outlined');
  }
}

/** Returns a button. */
function button(text, act) {
  const made = make('button', '', text);
  made.type = 'button';
  made.addEventListener('click', act);
  return made;
}

function addCopy(part) {
  const copy = button('Copy', async () => {
    const done = await copyText(part.querySelector('.prose')?.innerText || textOf(part) || part.querySelector('.lines')?.innerText || '');
    copy.textContent = done ? 'Copied' : 'Not copied';
    setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
  });
  copy.classList.add('copy');
  const places = part.querySelectorAll(':scope > .who');
  const last = places[places.length - 1] || part.querySelector(':scope > h3');
  if (last) last.append(copy);
  else part.append(copy);
}

/** Copies a text, in the old way where the browser allows no other. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = make('textarea', 'unseen');
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    return done;
  }
}

/** Returns the outline: the parts of the page, and the steps of the session. */
function outline(article) {
  const parts = [...article.querySelectorAll('.part')];
  if (!parts.length) return null;
  const box = make('nav', 'outline');
  box.setAttribute('aria-label', 'Outline');
  const list = make('ol');
  box.append(list);
  const entry = (text, kind, target) => {
    const item = make('li', kind);
    const link = make('a', '', text.length > 60 ? `${text.slice(0, 60)}…` : text);
    link.href = target.id ? `#trial-${article.dataset.trial}/${target.id}` : `#trial-${article.dataset.trial}`;
    link.addEventListener('click', (event) => {
      if (target.id) return;
      event.preventDefault();
      show(target);
    });
    item.append(link);
    list.append(item);
  };
  for (const part of parts) {
    entry(part.dataset.partName || part.querySelector('h3').textContent, 'outline-part', part);
    for (const step of part.querySelectorAll('.session > .step')) {
      const isFailed = step.matches('.failed, .trouble');
      const text = step.matches('.tool') ? step.dataset.title : `${step.dataset.title}: ${firstWords(step)}`;
      entry(isFailed ? `✗ ${text}` : text, isFailed ? 'outline-failed' : step.matches('.tool') ? 'outline-call' : 'outline-turn', step);
    }
  }
  return box;
}

function firstWords(step) {
  const text = step.querySelector('.prose, pre, .brief')?.textContent || '';
  return text.trim().slice(0, 60);
}

/** Opens everything around an element, goes there and marks it. */
function show(target) {
  for (let around = target; around && around !== stage; around = around.parentElement) {
    if (around.tagName === 'DETAILS') around.open = true;
  }
  for (const old of document.querySelectorAll('.marked')) old.classList.remove('marked');
  target.classList.add('marked');
  target.scrollIntoView({ block: 'start' });
  const focus = target.querySelector('summary, h3[tabindex], a');
  if (focus) focus.focus({ preventScroll: true });
}

/** Goes to a part of the open trial by the end of an address, such as `step-42`. */
function showPlace(name) {
  const target = name && find(name);
  if (target && stage.contains(target)) show(target);
}

/** Returns the search and the buttons above the steps. */
function trialTools(article) {
  const box = make('div', 'trial-tools');
  const field = make('input', 'trial-search');
  field.type = 'search';
  field.placeholder = 'search this trial ( / )';
  field.setAttribute('aria-label', 'Search this trial');
  const told = make('span', 'quiet');
  told.setAttribute('role', 'status');
  let found = [];
  let at = -1;
  const tell = () => {
    told.textContent = !field.value ? '' : found.length ? `${at + 1} of ${found.length}` : 'nothing found';
  };
  const look = () => {
    const words = field.value.toLowerCase();
    const places = article.querySelectorAll('.session > .step, .diff > .file, .part-tests .tests > li, .part-prompt, .part-log, .part-given dl > div');
    found = words ? [...places].filter((one) => one.textContent.toLowerCase().includes(words)) : [];
    at = -1;
    tell();
  };
  const go = (step) => {
    if (!found.length) return;
    at = (at + step + found.length) % found.length;
    show(found[at]);
    for (const fold of found[at].querySelectorAll('details')) {
      if (fold.textContent.toLowerCase().includes(field.value.toLowerCase())) fold.open = true;
    }
    field.focus({ preventScroll: true });
    tell();
  };
  field.addEventListener('input', look);
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    go(event.shiftKey ? -1 : 1);
  });
  const fold = (open) => () => {
    for (const one of article.querySelectorAll('.session details:not(.raw)')) one.open = open;
  };
  box.append(field, button('Previous match', () => go(-1)), button('Next match', () => go(1)), told);
  box.append(button('Expand all', fold(true)), button('Collapse all', fold(false)));
  return box;
}

/** Does what a key means in an open trial. Returns whether it means something. */
function trialKey(event) {
  const parts = { t: '.part-tests', d: '.part-changes', p: '.part-prompt', l: '.part-log' };
  if (event.key === '/') {
    const field = stage.querySelector('.trial-search');
    if (!field) return false;
    event.preventDefault();
    field.focus();
    field.select();
    return true;
  }
  const part = parts[event.key] && stage.querySelector(parts[event.key]);
  if (!part) return false;
  for (const fold of part.querySelectorAll(':scope > details')) fold.open = true;
  show(part);
  return true;
}

/** A trial in a tab of its own: its links lead to the run. */
function startAlone() {
  const [article] = all('main > article.trial');
  if (!article || overview) return;
  const own = `#trial-${article.dataset.trial}/`;
  dress(article);
  for (const link of article.querySelectorAll('a')) {
    const address = link.getAttribute('href');
    if (address.startsWith(own)) link.href = `#${address.slice(own.length)}`;
    else if (/^(#trial-|#pair-|trials\/)/.test(address)) link.href = `../${address}`;
  }
  const follow = () => {
    const target = find(location.hash.slice(1));
    if (target && article.contains(target)) show(target);
  };
  window.addEventListener('hashchange', follow);
  follow();
}
