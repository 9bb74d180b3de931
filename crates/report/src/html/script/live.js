// A run that may go on: the server tells what has changed, and only that comes over.

/** Shows whether the server is there. */
function sayLive(text) {
  const live = find('live');
  live.hidden = !text;
  live.textContent = text;
}

/** Shows a line above the page, with an address to go to. */
function tellNews(text, href) {
  let line = find('news');
  if (!line) {
    line = document.createElement('p');
    line.id = 'news';
    line.className = 'news';
    line.setAttribute('role', 'status');
    document.querySelector('nav.top').after(line);
  }
  const link = document.createElement('a');
  link.href = href;
  link.textContent = text;
  line.replaceChildren(link);
}

/**
 * Puts news into the page.
 * @param {{seen: number, parts: Object<string, string>, rows: Row[]}} news
 */
function takeNews(news) {
  overview.dataset.seen = String(news.seen);
  const parser = new DOMParser();
  for (const [id, html] of Object.entries(news.parts)) {
    const old = find(id);
    const fresh = parser.parseFromString(html, 'text/html').body.firstElementChild;
    if (old && fresh) morph(old, fresh);
  }
  if (news.rows.length) mergeRows(news.rows);
  if (news.rows.some((row) => row.id === opened)) openAgain();
}

/** Shows the open trial as it is now. */
async function openAgain() {
  const id = opened;
  if (id === null) return;
  const article = await bodyOf(id).catch(() => null);
  const shown = stage.querySelector('article.trial');
  if (opened !== id || paired || !article?.matches('article') || !shown) return;
  dress(article);
  // Whoever reads the end of a session goes on to read its end.
  const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 40;
  morph(shown, article);
  if (atEnd) window.scrollTo(0, document.body.scrollHeight);
}

/** Follows the session of the trial that is open, while it runs. */
function startFollowing() {
  let source = null;
  let of = null;
  const listen = () => {
    const row = opened === null ? null : rowOf(opened);
    const wanted = row && row.status.includes('running') && !document.hidden ? opened : null;
    if (wanted === of) return;
    source?.close();
    of = wanted;
    source = null;
    if (of === null) return;
    source = new EventSource(`trials/${of}/events`);
    source.addEventListener('grown', openAgain);
  };
  document.addEventListener('opened', listen);
  document.addEventListener('visibilitychange', listen);
  document.addEventListener('rows', listen);
}

function startLive() {
  let source = null;
  const leave = () => {
    source?.close();
    source = null;
  };
  // Only the page that is looked at listens: a browser keeps no more than six connections to a server.
  const listen = () => {
    if (document.hidden) {
      leave();
      return;
    }
    if (source) return;
    source = new EventSource(`events/${overview.dataset.seen}`);
    source.addEventListener('news', (event) => takeNews(JSON.parse(event.data)));
    source.addEventListener('remarks', openAgain);
    source.addEventListener('begun', () => sayLive('live'));
    source.addEventListener('end', () => sayLive('watching'));
    source.addEventListener('newer', (event) => {
      if (event.data) tellNews(`There is a newer run: ${event.data}`, `../${event.data}/`);
    });
    source.addEventListener('error', () => {
      sayLive('The server does not answer. Start `terca view` again.');
      // The address has what was seen then; a new connection asks for everything since.
      leave();
      setTimeout(listen, 2000);
    });
  };
  document.addEventListener('visibilitychange', listen);
  listen();
  startFollowing();
  setInterval(letTimesGrow, 1000);
}

/** Lets the times since a moment grow, as the server writes them. */
function letTimesGrow() {
  for (const time of all('time.since')) {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000));
    const [minutes, rest] = [Math.floor(seconds / 60) % 60, String(seconds % 60).padStart(2, '0')];
    const hours = Math.floor(seconds / 3600);
    time.textContent = hours ? `${hours}h ${String(minutes).padStart(2, '0')}m` : minutes ? `${minutes}m ${rest}s` : `${seconds}s`;
  }
}
