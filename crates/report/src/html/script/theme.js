// Light, dark, or as the system is. The choice is kept where the browser allows it.

const THEMES = ['system', 'light', 'dark'];

/** Returns the choice that was kept; a page from a disk may have no place to keep one. */
function keptTheme() {
  try {
    return localStorage.getItem('terca-theme');
  } catch {
    return null;
  }
}

function keepTheme(theme) {
  try {
    localStorage.setItem('terca-theme', theme);
  } catch {
    // It lasts as long as the page.
  }
}

function setTheme(theme) {
  if (theme === 'system') document.documentElement.removeAttribute('data-theme');
  else document.documentElement.setAttribute('data-theme', theme);
  const button = find('theme');
  if (button) button.textContent = `Theme: ${theme}`;
}

function startTheme() {
  document.documentElement.classList.add('js');
  let theme = THEMES.includes(keptTheme()) ? keptTheme() : 'system';
  setTheme(theme);
  find('theme')?.addEventListener('click', () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    setTheme(theme);
    keepTheme(theme);
  });
}
