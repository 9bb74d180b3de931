// What a page does by itself: narrow the list of trials, open a trial, and, where there is a server, follow a run.
// All markup comes from Terca; text that an agent wrote is never made into markup here.
(() => {
  'use strict';
  const find = (id) => document.getElementById(id);
  const served = document.body.hasAttribute('data-served');
  const overview = find('overview');

  // Choosing two runs.
  const compare = find('compare');
  if (compare) {
    const choose = () => {
      const chosen = [...document.querySelectorAll('input[name=run]:checked')].map((box) => box.value);
      if (chosen.length === 2) {
        // The older one first.
        compare.href = `compare/${chosen[1]}/${chosen[0]}`;
        compare.removeAttribute('aria-disabled');
      } else {
        compare.href = '#';
        compare.setAttribute('aria-disabled', 'true');
      }
    };
    document.addEventListener('change', choose);
    // Whoever comes back finds the choice as it was.
    window.addEventListener('pageshow', choose);
  }
  if (!overview) return;

  const stage = find('stage');
  const title = document.title;
  const fields = { status: find('filter-status'), eval: find('filter-eval'), variant: find('filter-variant'), text: find('filter-text') };
  const rows = () => [...find('rows').children];
  let opened = null;
  let place = 0;

  // ---- the list
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

  function address() {
    const query = new URLSearchParams();
    for (const [name, field] of Object.entries(fields)) if (field.value) query.set(name, field.value);
    const text = query.toString();
    return text ? `#trials?${text}` : '#trials';
  }

  function changed() {
    narrow();
    history.replaceState(null, '', address());
  }

  // ---- a trial
  async function bodyOf(id) {
    const template = find(`body-${id}`);
    if (template) return template.content.cloneNode(true);
    if (!served || !find(`row-${id}`)) return null;
    const answer = await fetch(`trials/${id}`);
    if (!answer.ok) return null;
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    return document.importNode(page.querySelector('article'), true);
  }

  async function open(id, again) {
    if (!again && opened === null) place = window.scrollY;
    opened = id;
    const body = await bodyOf(id);
    if (opened !== id) return;
    const missing = document.createElement('p');
    missing.textContent = `There is no trial ${id} in this run.`;
    stage.replaceChildren(body || missing);
    overview.hidden = true;
    stage.hidden = false;
    const heading = stage.querySelector('h2');
    document.title = heading ? `${heading.textContent} · ${title}` : title;
    neighbours();
    if (again) return;
    window.scrollTo(0, 0);
    if (heading) heading.focus({ preventScroll: true });
  }

  function close() {
    if (opened === null) return;
    const row = find(`row-${opened}`);
    opened = null;
    stage.replaceChildren();
    stage.hidden = true;
    overview.hidden = false;
    document.title = title;
    neighbours();
    window.scrollTo(0, place);
    if (row) row.querySelector('a').focus({ preventScroll: true });
  }

  function beside(step) {
    const ids = rows().filter((row) => !row.hidden).map((row) => Number(row.id.slice(4)));
    const at = ids.indexOf(opened);
    return at < 0 ? undefined : ids[at + step];
  }

  function neighbours() {
    for (const [name, step] of [['previous', -1], ['next', 1]]) {
      const id = opened === null ? undefined : beside(step);
      find(name).hidden = id === undefined;
      find(name).setAttribute('href', `#trial-${id}`);
    }
    find('to-trials').setAttribute('href', address());
  }

  // ---- addresses: #trial-17, #trials?status=failed&eval=3
  function follow() {
    // As it is: the numbers of trials need no decoding, and a query is decoded where it is read.
    const hash = location.hash.slice(1);
    const trial = /^trial-(\d+)$/.exec(hash);
    if (trial) {
      open(Number(trial[1]));
      return;
    }
    if (hash.startsWith('trials')) {
      const query = new URLSearchParams(hash.slice('trials?'.length));
      for (const [name, field] of Object.entries(fields)) field.value = query.get(name) || '';
      narrow();
      const wasOpen = opened !== null;
      close();
      if (!wasOpen) find('trials').scrollIntoView();
      return;
    }
    close();
    if (!hash) window.scrollTo(0, 0);
  }

  document.addEventListener('input', (event) => {
    if (event.target.closest('form.filters')) changed();
  });
  const form = document.querySelector('form.filters');
  form.addEventListener('submit', (event) => event.preventDefault());
  form.addEventListener('reset', () => setTimeout(changed));
  window.addEventListener('hashchange', follow);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === 'Escape' && typing) event.target.blur();
    else if (event.key === 'Escape' && opened !== null) location.hash = address();
    else if (typing) return;
    else if (event.key === '/' && opened === null) {
      event.preventDefault();
      fields.text.focus();
    } else if ((event.key === 'j' || event.key === 'k') && opened !== null) {
      const id = beside(event.key === 'j' ? 1 : -1);
      if (id !== undefined) location.hash = `#trial-${id}`;
    }
  });

  // ---- a run that goes on
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
      if (opened !== null && put.id === `row-${opened}`) open(opened, true);
    }
    narrow();
  }

  if (served) {
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

  narrow();
  if (location.hash) follow();
})();
