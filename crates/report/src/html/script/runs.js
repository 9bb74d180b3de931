// The list of runs: two of them are chosen to be compared.

function startRuns() {
  const compare = find('compare');
  if (!compare) return;
  const choose = () => {
    const chosen = all('input[name=run]:checked').map((box) => box.value);
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
