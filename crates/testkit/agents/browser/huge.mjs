// A transcript of 20 MB opens and scrolls, in the file and from the server, and no step of it is missing.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { play, unharmed, until } from './harness.mjs';

const steps = Number(process.env.STEPS);

await play(async ({ context, page }) => {
  for (const address of [pathToFileURL(process.env.REPORT).href, process.env.URL]) {
    const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
    await open.goto(`${address}#trial-1`);
    await open.locator('article.trial .session').waitFor();
    const shown = await open.locator('.session > .step').count();
    const remarks = await open.locator('.session > .note').allInnerTexts();
    const missing = remarks.map((text) => Number(/… (\d+) steps? left out/.exec(text)[1]));
    assert.equal(shown + missing.reduce((sum, one) => sum + one, 0), steps, remarks.join());
    if (address === process.env.URL) assert.equal(shown, steps, 'outputs are cut, not steps');
    const last = open.locator('.step', { hasText: 'shard-0999.ts' });
    await last.scrollIntoViewIfNeeded();
    await last.locator('summary').first().click();
    await until('the last step is open', async () => (await last.getAttribute('open')) !== null);
    assert.match(await last.innerText(), address === process.env.URL ? /Output/ : /Output|text cut/);
    await unharmed(open);
  }

  // A trial in a tab of its own has its links.
  const alone = await page(await context({ viewport: { width: 1280, height: 900 } }));
  await alone.goto(new URL('trials/2#step-3', process.env.URL).href);
  await alone.locator('#step-3.marked').waitFor();
  await alone.getByRole('link', { name: 'run.log' }).waitFor();
  const file = await alone.getByRole('link', { name: 'run.log' }).evaluate((link) => link.href);
  assert.equal(file, new URL('trials/2/run.log', process.env.URL).href);
  await alone.locator('.compare').click();
  await alone.locator('article.pair').waitFor();
  await alone.goBack();
  await alone.getByRole('link', { name: 'All runs' }).click();
  await alone.getByRole('heading', { name: 'Runs' }).waitFor();
});
