// Where the page of a trial comes from.

async function bodyOf(id) {
  const template = find(`body-${id}`);
  if (template) return template.content.cloneNode(true);
  if (!served || !find(`row-${id}`)) return null;
  const answer = await fetch(`trials/${id}`);
  if (!answer.ok) return null;
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  return document.importNode(page.querySelector('article'), true);
}
