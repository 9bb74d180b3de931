// Two trials beside each other, from a file.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { play, unharmed } from './harness.mjs';
import { accessible } from './axe.mjs';

const report = pathToFileURL(process.env.REPORT).href;

await play(async ({ context, page }) => {
  const open = await page(await context({ viewport: { width: 1440, height: 900 } }));
  await open.goto(`${report}#trial-2`);
  await open.locator('.compare').click();
  await open.locator('article.pair').waitFor();
  assert.match(open.url(), /#pair-2-(\d+)$/);
  assert.match(await open.locator('.pair h2').innerText(), /auth\/sign-in: #2 and #\d+/);

  // What they were given: only what differs, line by line.
  const given = await open.locator('.pair .part-given').innerText();
  assert.deepEqual(
    await open.locator('.pair [data-differs]').evaluateAll((all) => all.map((one) => one.dataset.differs)),
    ['text of the rules', 'servers'],
  );
  assert.match(await open.locator('[data-differs="text of the rules"] ins').innerText(), /Page with cursors/);
  assert.match(given, /The same: prompt, agent, model/);

  // The first difference is marked, and in view.
  const first = open.locator('.divergence');
  assert.equal(await first.count(), 1);
  const box = await first.boundingBox();
  assert.ok(box.y >= 0 && box.y < 900, `it is in view: ${box.y}`);
  assert.match(await first.locator('.side').first().innerText(), /Read\s+src\/routes\/list\.ts/);

  // Calls of both are on one line; what one alone did is not.
  const alike = open.locator('.two.alike', { hasText: 'npm test' }).last();
  assert.equal(await alike.locator('.tool', { hasText: 'npm test' }).count(), 2);
  assert.equal(await open.locator('.two.differs .tool').count(), 1);

  // Their work, file by file.
  const file = open.locator('.pair .diff .two').first();
  assert.equal(await file.locator('.file[data-file="src/routes/list.ts"]').count(), 2);

  // Another trial is chosen by its dot.
  await open.locator('.heads .side').first().locator('a.sibling[href^="#pair-1-"]').click();
  await open.locator('.pair h2', { hasText: '#1 and' }).waitFor();
  await unharmed(open);

  // What an agent wrote stays text here, too.
  const evil = Number(process.env.EVIL);
  await open.goto(`${report}#pair-${evil}-${evil - 1}`);
  await open.locator('.pair h2', { hasText: `#${evil} and` }).waitFor();
  assert.match(await open.locator('.pair .part-transcript').innerText(), /I am done\. <script>window\.pwned=1<\/script>/);
  assert.match(await open.locator('.pair .part-changes').innerText(), /<img src=https:\/\/evil\.invalid\/x onerror/);
  assert.match(await open.locator('.pair .part-transcript').innerText(), /Both made the same calls/);
  await unharmed(open);

  // Back, and an address of a trial that is not there.
  await open.keyboard.press('Escape');
  await open.locator('#overview').waitFor({ state: 'visible' });
  await open.goto(`${report}#pair-1-9999`);
  await open.locator('#stage', { hasText: 'There is no trial 9999 in this run.' }).waitFor();

  const phone = await page(await context({ viewport: { width: 390, height: 844 } }));
  await phone.goto(`${report}#pair-2-6`);
  await phone.locator('article.pair').waitFor();
  const width = await phone.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `the page is ${width} wide`);

  // For everybody, light and dark, with every fold open.
  await accessible(phone, 'two trials on a phone');
  await accessible(open, 'a trial that is not there');
  await open.goto(`${report}#pair-2-6`);
  await open.locator('article.pair').waitFor();
  for (const colorScheme of ['light', 'dark']) {
    await open.emulateMedia({ colorScheme });
    await open.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
    await accessible(open, `two trials, ${colorScheme}`);
  }
});
