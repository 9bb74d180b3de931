// A trial that is open in the place of the overview.

let opened = null;
let place = 0;

/** Returns the page of a trial, or the reason why there is none. */
async function bodyOrReason(id) {
  try {
    return (await bodyOf(id)) || make('h1', '', `There is no trial ${id} in this run.`);
  } catch {
    return make('h1', '', 'The server does not answer. Start `terca view` again: its address stays the same.');
  }
}

async function open(id, again, part) {
  if (again && paired) return;
  if (!again && opened === id && !paired && stage.querySelector('article.trial')) {
    showPlace(part);
    return;
  }
  if (!again && opened === null) place = window.scrollY;
  opened = id;
  paired = null;
  const body = await bodyOrReason(id);
  if (opened !== id) return;
  stage.replaceChildren(body);
  const article = stage.querySelector('article.trial');
  if (article) dress(article);
  overview.hidden = true;
  stage.hidden = false;
  const heading = stage.querySelector('h2');
  document.title = heading ? `${heading.textContent} · ${title}` : title;
  neighbours();
  if (again) return;
  window.scrollTo(0, 0);
  if (heading) heading.focus({ preventScroll: true });
  showPlace(part);
}

function close() {
  if (opened === null) return;
  const id = opened;
  opened = null;
  paired = null;
  stage.replaceChildren();
  stage.hidden = true;
  overview.hidden = false;
  document.title = title;
  neighbours();
  window.scrollTo(0, place);
  focusRow(id);
}

function beside(step) {
  const ids = listed();
  const at = ids.indexOf(opened);
  return at < 0 ? undefined : ids[at + step];
}

function neighbours() {
  document.dispatchEvent(new Event('opened'));
  for (const [name, step] of Object.entries({ previous: -1, next: 1 })) {
    const id = opened === null ? undefined : beside(step);
    find(name).hidden = id === undefined;
    find(name).setAttribute('href', `#trial-${id}`);
  }
  find('to-trials').setAttribute('href', address());
}
