// The overview of a run: the table of verdicts with its plot, what changed, the heat map, the theme; wide, narrow, and
// without a script.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { accessible } from './axe.mjs';
import { play, unharmed, until } from './harness.mjs';

const report = pathToFileURL(process.env.REPORT).href;
const widthOf = async (locator) => (await locator.boundingBox()).width;

/** The page does not scroll sideways, and no plot leaves its card or table. */
async function fits(page, width) {
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width, `the page is wider than ${width}`);
  const outside = await page.evaluate(() => {
    const found = [];
    for (const plot of document.querySelectorAll('#overview svg.along, #overview svg.axis')) {
      const frame = plot.closest('.card, .comparisons');
      if (!frame || !plot.checkVisibility()) continue;
      const [inner, outer] = [plot.getBoundingClientRect(), frame.getBoundingClientRect()];
      if (inner.right > outer.right + 1 || inner.left < outer.left - 1) found.push(`${inner.right} > ${outer.right}`);
    }
    return found;
  });
  assert.deepEqual(outside, [], `plots are within their frames at ${width}`);
}

await play(async ({ context, page }) => {
  const open = await page(await context({ viewport: { width: 1440, height: 900 } }));
  await open.goto(report);
  await unharmed(open);

  // One row for each comparison, all on one plot that is wide enough to read.
  const rows = open.locator('.comparisons tr.row');
  assert.equal(await rows.count(), 3);
  for (const plot of await open.locator('.comparisons tr.row svg.along').all()) assert.ok((await widthOf(plot)) >= 400);
  assert.match(await rows.first().innerText(), /with-mcp[\s\S]*all environments[\s\S]*(BETTER|WORSE|EQUIVALENT|INCONCLUSIVE)/);
  assert.ok((await open.locator('.comparisons svg.axis text').count()) >= 5, 'the axis has ticks');
  assert.match(await open.locator('.masthead').innerText(), /claude-code 2\.1\.197, model claude-sonnet-5/);

  // A verdict is a button for its sentence.
  const word = rows.first().locator('button.word');
  const sentence = open.locator('.told .sentence').first();
  assert.equal(await sentence.isVisible(), false);
  await word.click();
  assert.match(await sentence.innerText(), /passed with with-mcp, \d+\s%\swith control/);
  assert.equal(await word.getAttribute('aria-expanded'), 'true');
  await word.press('Enter');
  assert.equal(await sentence.isVisible(), false);

  // What changed: the worst first, filtered, each dot a trial, each row two of them side by side.
  const changed = open.locator('.changed tbody tr');
  const all = await changed.count();
  assert.equal(all, 14);
  const kinds = await changed.evaluateAll((rows) => rows.map((row) => row.dataset.effect));
  const order = ['worse', 'better', 'same'];
  assert.deepEqual(kinds, [...kinds].sort((one, other) => order.indexOf(one) - order.indexOf(other)));
  for (const kind of ['worse', 'better', 'different']) {
    await open.click(`[data-show=${kind}]`);
    const shown = await changed.evaluateAll((rows) => rows.filter((row) => !row.hidden).map((row) => row.dataset.effect));
    const wanted = kinds.filter((found) => found === kind || (kind === 'different' && found !== 'same'));
    assert.deepEqual(shown, wanted);
  }
  await open.click('[data-show=all]');
  assert.match(await changed.first().locator('th a').getAttribute('href'), /^#pair-\d+-\d+$/);
  const dot = changed.first().locator('.rep').first();
  assert.match(await dot.getAttribute('aria-label'), /^trial \d+: (passed|partial|failed|error)$/);
  assert.match(await changed.first().locator('.failing').innerText(), /failed \d+ → \d+/);
  const address = await dot.getAttribute('href');
  await dot.click();
  await open.locator('article.trial').waitFor();
  assert.ok(open.url().endsWith(address));
  await open.goBack();
  await open.locator('.changed').waitFor({ state: 'visible' });

  // The heat map: environments over their experiments, columns of one width, a header that stays.
  assert.deepEqual(await open.locator('.heat .environments th').allInnerTexts(), ['Eval', 'claude', 'gemini']);
  const widths = await open.locator('.heat tbody tr:first-child td').evaluateAll((cells) => cells.map((cell) => cell.offsetWidth));
  assert.ok(Math.max(...widths) - Math.min(...widths) <= 1, String(widths));
  assert.match(await open.locator('.heat tbody td').nth(1).innerText(), /\d+ %\s+\d\/\d\s*(0|[+−]\d+)/);
  const sticks = await open.evaluate(() => {
    const scroller = document.querySelector('.scroll.tall');
    scroller.style.maxHeight = '200px';
    scroller.scrollTop = 120;
    const head = document.querySelector('.heat thead th').getBoundingClientRect();
    return Math.abs(head.top - scroller.getBoundingClientRect().top) < 4;
  });
  assert.ok(sticks, 'the header of the heat map stays');

  // The theme: light, dark, as the system is; kept over a reload.
  const paper = () => open.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await open.click('#theme');
  assert.equal(await open.innerText('#theme'), 'Theme: light');
  assert.equal(await paper(), light);
  await open.click('#theme');
  assert.notEqual(await paper(), light);
  // The browser writes down what a page keeps a moment later: a page that is opened before that does not know it.
  await until('the theme is kept', async () => {
    await open.reload();
    return (await open.innerText('#theme')) === 'Theme: dark';
  });
  assert.notEqual(await paper(), light);
  await open.click('#theme');
  await until('it follows the system again', async () => (await paper()) === light);

  for (const width of [1440, 1280, 1024, 390]) {
    await open.setViewportSize({ width, height: 900 });
    await fits(open, width);
  }
  for (const colorScheme of ['light', 'dark']) {
    for (const width of [1440, 390]) {
      const reader = await page(await context({ viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce' }));
      await reader.goto(report);
      await reader.locator('button.word').first().click();
      await accessible(reader, `the overview at ${width}, ${colorScheme}`);
    }
  }

  // Without a script everything is there to read.
  const bare = await page(await context({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false }));
  await bare.goto(report);
  assert.equal(await bare.locator('.told .sentence').first().isVisible(), true);
  assert.equal(await bare.locator('.choices').isVisible(), false);
  assert.equal(await bare.locator('#theme').isVisible(), false);
});
