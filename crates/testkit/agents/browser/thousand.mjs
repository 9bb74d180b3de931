// A report of a thousand trials is used like any other.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { play, unharmed } from './harness.mjs';

await play(async ({ context, page }) => {
  const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
  const started = Date.now();
  await open.goto(pathToFileURL(process.env.REPORT).href);
  console.log(`opened in ${Date.now() - started} ms`);
  assert.equal(await open.locator('#rows > tr').count(), 1008);
  await open.fill('#filter-text', 'pagination 429');
  const shown = await open.locator('#rows > tr:visible').count();
  assert.ok(shown > 0 && shown < 100, `${shown}`);
  await open.goto(`${pathToFileURL(process.env.REPORT).href}#trial-1008`);
  await open.locator('article.trial .session').waitFor();
  await unharmed(open);
});
