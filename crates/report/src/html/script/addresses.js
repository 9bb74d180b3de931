// Addresses: #trial-17, #trial-17/step-42, #pair-17-42, #trials?status=failed&eval=3&sort=-score

function follow() {
  // As it is: the numbers of trials need no decoding, and a query is decoded where it is read.
  const hash = location.hash.slice(1);
  const trial = /^trial-(\d+)(?:\/((?:step|file)-\d+))?$/.exec(hash);
  if (trial) {
    open(Number(trial[1]), false, trial[2]);
    return;
  }
  const pair = /^pair-(\d+)-(\d+)$/.exec(hash);
  if (pair) {
    openPair(Number(pair[1]), Number(pair[2]));
    return;
  }
  if (hash.startsWith('trials')) {
    narrowBy(new URLSearchParams(hash.slice('trials?'.length)));
    const wasOpen = opened !== null;
    close();
    if (!wasOpen) find(wanted.find ? 'search' : hash === 'trials' ? 'trials' : 'filters').scrollIntoView();
    return;
  }
  close();
  if (!hash) window.scrollTo(0, 0);
}

function startAddresses() {
  window.addEventListener('hashchange', follow);
  if (location.hash) follow();
}
