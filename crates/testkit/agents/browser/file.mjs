// The report as a file: opened, filtered, a trial read, and nothing foreign run.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { choose, listed, play, unharmed, until } from './harness.mjs';

const report = pathToFileURL(process.env.REPORT).href;

await play(async ({ context, page, watched }) => {
  const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
  await open.goto(report);
  const visible = () => listed(open);
  const all = await visible();
  assert.equal(all, 140);
  assert.equal(await open.locator('td.verdict').count(), 3);
  assert.equal(await open.locator('.heat tbody tr').count(), 7);
  assert.match(await open.locator('.heat tbody tr').last().innerText(), /<script>window\.pwned=1<\/script>/);
  assert.ok((await open.locator('svg.along').count()) > 10);
  await unharmed(open);

  // By status, eval, variant and words; each has an address.
  await open.selectOption('#filter-status', 'failed');
  const failed = await visible();
  assert.ok(failed > 0 && failed < all);
  assert.match(open.url(), /#trials\?status=failed$/);
  assert.equal(await open.locator('#shown').innerText(), `${failed} of ${all} trials`);
  await choose(open, '#filter-eval', 'rest/pagination');
  await choose(open, '#filter-variant', 'gemini · control');
  const few = await visible();
  assert.ok(few > 0 && few < failed);
  await open.fill('#filter-text', 'no such words');
  assert.equal(await visible(), 0);
  assert.equal(await open.locator('#rows > tr').count(), 0);
  await open.click('form.filters button');
  await until('all trials are shown again', async () => (await visible()) === all);

  // Words with signs of an address in them come back as they were, and half a sign is no trouble.
  await open.fill('#filter-text', '100% & more=');
  await until('the address has the words', async () => open.url().includes('text=100'));
  const address = open.url();
  await open.click('form.filters button');
  await until('the address has no words', async () => open.url().endsWith('#trials'));
  await open.goto(address);
  await until('the words are those of the address', async () =>
    (await open.inputValue('#filter-text')) === '100% & more=');
  await open.goto(`${report}#trials?text=%`);
  await until('a sign that is cut is taken as it is', async () =>
    (await open.inputValue('#filter-text')) === '%');
  await unharmed(open);
  await open.click('form.filters button');
  await until('all trials are shown once more', async () => (await visible()) === all);

  // A cell of the heat map leads to its trials.
  await open.locator('.heat tbody td a').first().click();
  await until('the trials of one cell are shown', async () => (await visible()) === 5);

  // A trial, by its link, and from there on by keys.
  await open.locator('.list thead button', { hasText: 'Trial' }).click();
  await open.locator('#rows > tr:visible .id a').nth(1).click();
  await open.locator('article.trial').waitFor();
  assert.match(open.url(), /#trial-2$/);
  assert.equal(await open.locator('#overview').isVisible(), false);
  assert.match(await open.title(), /auth\/sign-in/);
  assert.equal(await open.evaluate(() => document.activeElement.tagName), 'H2', 'a screen reader is told');
  assert.match(await open.locator('.diff ins', { hasText: 'getDocs' }).last().innerText(), /const \{ docs \} = await getDocs\(page\);/);
  assert.ok((await open.locator('.diff ins').count()) >= 2);
  assert.equal(await open.locator('.diff del', { hasText: 'export' }).first().isVisible(), true);
  const call = open.locator('details.tool', { hasText: 'search_docs' });
  assert.equal(await call.locator('pre').first().isVisible(), false, 'tool calls are folded');
  await call.locator('summary').first().click();
  assert.match(await call.innerText(), /startAfter\(last\)/);
  const listing = open.locator('details.tool', { hasText: 'git ls-files' });
  await listing.locator('summary').first().click();
  assert.match(await listing.locator('details.fold summary').innerText(), /32 more lines/);
  assert.match(await open.locator('.part-prompt').innerText(), /pages of 20/);
  assert.match(await open.locator('.part-delivery').innerText(), /CLAUDE\.md/);
  assert.match(await open.locator('.part-tests').innerText(), /unit-tests/);
  await open.locator('.part-tests summary').first().click();
  assert.match(await open.locator('.part-tests').innerText(), /expected 200, got 404/);
  await open.keyboard.press('j');
  await open.locator('article.trial h2', { hasText: '#3' }).waitFor();
  assert.match(open.url(), /#trial-3$/);
  await open.keyboard.press('k');
  await open.locator('article.trial h2', { hasText: '#2' }).waitFor();
  assert.match(open.url(), /#trial-2$/);
  await open.keyboard.press('Escape');
  await open.locator('#overview').waitFor({ state: 'visible' });
  assert.equal(await visible(), 5, 'what was filtered still is');

  // A link that somebody sent.
  const other = await page(await context({ viewport: { width: 390, height: 844 } }));
  await other.goto(`${report}#trial-17`);
  assert.match(await other.locator('article.trial h2').innerText(), /#17/);
  const wide = await other.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 390, `a phone scrolls down only, but the page is ${wide} wide`);
  await other.goto(`${report}#`);
  assert.ok((await other.evaluate(() => document.documentElement.scrollWidth)) <= 390);

  // What the agent of the last eval wrote.
  await open.goto(`${report}#trial-${all}`);
  await open.reload();
  await open.locator('article.trial').waitFor();
  assert.match(await open.locator('article.trial h2').innerText(), /<script>window\.pwned=1<\/script>/);
  assert.match(await open.locator('.diff').innerText(), /<img src=https:\/\/evil\.invalid\/x onerror/);
  const said = await open.locator('.session').innerText();
  assert.match(said, /I am done\. <script>window\.pwned=1<\/script>/);
  assert.ok(!said.includes('\u001b') && !said.includes('[31m'), 'no colours of a terminal');
  const flood = open.locator('details.tool', { hasText: 'npm test' });
  await flood.locator('summary').first().click();
  await flood.locator('details.fold summary').click();
  assert.match(await flood.innerText(), /bytes left out/);
  await open.locator('.part-log summary').click();
  assert.match(await open.locator('.log').innerText(), /\uFFFD/);
  await unharmed(open);

  // What a policy is for: even a script that got in would not run.
  await open.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.pwned = 1';
    document.body.append(script);
    script.remove();
  });
  assert.equal(await open.evaluate(() => window.pwned), undefined);
  await until('the browser says so', () => watched.console.some((line) => /Content Security Policy/.test(line)));
  watched.console.length = 0;

  assert.ok(readFileSync(process.env.REPORT).length < 20_000_000);
  assert.ok(watched.requests.every((url) => url.startsWith('file:')), 'a file asks nobody');
  await open.emulateMedia({ media: 'print' });
  assert.equal(await open.locator('nav.top').isVisible(), false);
});
