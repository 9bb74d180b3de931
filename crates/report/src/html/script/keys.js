// The keys of a page.

function startKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === 'Escape' && typing) event.target.blur();
    else if (event.key === 'Escape' && opened !== null) location.hash = address();
    else if (typing) return;
    else if (opened !== null && trialKey(event)) return;
    else if (event.key === '/' && opened === null) {
      event.preventDefault();
      fields.text.focus();
    } else if ((event.key === 'j' || event.key === 'k') && opened !== null) {
      const id = beside(event.key === 'j' ? 1 : -1);
      if (id !== undefined) location.hash = `#trial-${id}`;
    }
  });
}
