// The list of runs, the trend of their suite, and two of them compared.
import assert from 'node:assert/strict';
import { accessible } from './axe.mjs';
import { play, unharmed, until } from './harness.mjs';

await play(async ({ context, page }) => {
  const open = await page(await context({ viewport: { width: 1440, height: 900 } }));
  await open.goto(new URL('../../', process.env.URL).href);
  const runs = open.locator('.runs').first().locator('tbody tr');
  assert.equal(await runs.count(), 3);
  assert.match(await runs.first().innerText(), /claude-code, gemini-cli[\s\S]*\d+ %\s+claude · control/);
  assert.equal(await open.locator('th:empty').count(), 0, 'each column has a name');

  // A line for each variant, a mark for each run, and the same in figures.
  assert.equal(await open.locator('.trend .trend-lines tr').count(), 4);
  assert.equal(await open.locator('.trend .trend-lines tr').first().locator('circle.mark').count(), 3);
  await open.locator('.trend summary').click();
  assert.equal(await open.locator('.trend .runs tbody tr').count(), 3);

  // Two are chosen and compared: the older one is the baseline.
  const boxes = open.locator('input[name=run]');
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await until('the link is ready', async () => (await open.locator('#compare').getAttribute('aria-disabled')) === null);
  await open.click('#compare');
  await open.getByRole('heading', { name: 'Two runs' }).waitFor();
  assert.match(await open.locator('.masthead').innerText(), /2026-11-14-003 against 2026-11-14-002: 7 evals/);
  assert.ok((await open.locator('.comparisons tr.row').count()) >= 4);
  await open.locator('button.word').first().click();
  assert.match(await open.locator('.told .sentence').first().innerText(), /of trials passed in 2026-11-14-003/);
  assert.ok((await open.locator('.changed tbody tr').count()) > 7);
  const dot = open.locator('.changed .rep').first();
  assert.match(await dot.getAttribute('href'), /^\.\.\/\.\.\/runs\/2026-11-14-002\/#trial-\d+$/);
  await unharmed(open);

  for (const width of [1440, 1024, 390]) {
    await open.setViewportSize({ width, height: 900 });
    assert.ok((await open.evaluate(() => document.documentElement.scrollWidth)) <= width, `compare at ${width}`);
    await accessible(open, `two runs at ${width}`);
  }
  await open.goBack();
  for (const width of [1440, 1024, 390]) {
    await open.setViewportSize({ width, height: 900 });
    assert.ok((await open.evaluate(() => document.documentElement.scrollWidth)) <= width, `runs at ${width}`);
    await accessible(open, `the runs at ${width}`);
  }
});
