// What changed: the rows that are asked for, and the sentences below the verdicts.

/** Shows the rows of one kind: all, worse, better or different. */
function showChanged(section, kind) {
  for (const button of section.querySelectorAll('[data-show]')) {
    button.setAttribute('aria-pressed', String(button.dataset.show === kind));
  }
  for (const row of section.querySelectorAll('tr[data-effect]')) {
    const effect = row.dataset.effect;
    row.hidden = !(kind === 'all' || kind === effect || (kind === 'different' && effect !== 'same'));
  }
}

/** Unfolds or folds the sentence of a verdict. */
function tell(button) {
  const isOpen = button.getAttribute('aria-expanded') === 'true';
  button.setAttribute('aria-expanded', String(!isOpen));
  find(button.getAttribute('aria-controls')).toggleAttribute('data-open', !isOpen);
}

function startChanged() {
  document.addEventListener('click', (event) => {
    const choice = targetOf(event).closest('[data-show]');
    if (choice) showChanged(choice.closest('section'), choice.dataset.show);
    const word = targetOf(event).closest('button.word');
    if (word) tell(word);
  });
}
