// A report of a thousand trials is used like any other.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { listed, play, unharmed } from './harness.mjs';

await play(async ({ context, page }) => {
  const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
  await open.goto(pathToFileURL(process.env.REPORT).href);
  assert.equal(await listed(open), 1008);
  await open.fill('#filter-text', 'pagination 429');
  const shown = await listed(open);
  assert.ok(shown > 0 && shown < 100, `${shown}`);
  await open.goto(`${pathToFileURL(process.env.REPORT).href}#trial-1008`);
  await open.locator('article.trial .session').waitFor();
  await unharmed(open);
});
