// A run that goes on: the parts of the page that have changed are replaced.

async function refresh() {
  const answer = await fetch(location.pathname);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const fresh of page.querySelectorAll('[data-part]')) {
    const old = find(fresh.id);
    if (!old) continue;
    fresh.hidden = old.hidden;
    if (old.outerHTML === fresh.outerHTML) continue;
    const focused = old.contains(document.activeElement) && document.activeElement.getAttribute('href');
    const put = document.importNode(fresh, true);
    old.replaceWith(put);
    if (focused) [...put.querySelectorAll('a')].find((link) => link.getAttribute('href') === focused)?.focus();
  }
  const changed = await freshRows();
  if (changed.has(opened)) open(opened, true);
}

function startLive() {
  const live = find('live');
  const say = (text) => {
    live.hidden = !text;
    live.textContent = text;
  };
  let waiting = false;
  let wanted = false;
  const soon = async () => {
    wanted = true;
    if (waiting) return;
    waiting = true;
    while (wanted) {
      wanted = false;
      await refresh().catch(() => say('not connected'));
      await new Promise((done) => setTimeout(done, 500));
    }
    waiting = false;
  };
  let source = null;
  const leave = () => {
    if (source) source.close();
    source = null;
    say('');
  };
  // Only the page that is looked at listens: a browser keeps no more than six connections to a server.
  const listen = () => {
    if (document.hidden) return leave();
    if (source) return;
    source = new EventSource('events');
    source.addEventListener('open', () => say('live'));
    source.addEventListener('change', soon);
    source.addEventListener('end', () => {
      leave();
      soon();
    });
    source.addEventListener('error', () => say('not connected'));
  };
  document.addEventListener('visibilitychange', listen);
  listen();
}
