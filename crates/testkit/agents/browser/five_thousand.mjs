// Five thousand trials against a handful: not much slower, and hardly more in the page.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { listed, play, unharmed, until } from './harness.mjs';

const [few, many] = [process.env.FEW, process.env.MANY].map((file) => pathToFileURL(file).href);
/** The nodes of the list, whatever it lists. */
const MOST_NODES = 2_500;
const MOST_TIMES = 3;
const TRIES = 7;

await play(async ({ context, page }) => {
  const cost = async (address) => {
    const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
    let [paint, back] = [Infinity, Infinity];
    for (let look = 0; look < TRIES; look += 1) {
      await open.goto('about:blank');
      await open.goto(`${address}#`);
      await listed(open);
      const painted = () => open.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
      await until('something is painted', async () => (await painted()) !== undefined);
      paint = Math.min(paint, await painted());
      await open.evaluate(() => { location.hash = '#trials'; });
      await until('rows are in sight', async () => (await open.locator('#rows > tr').count()) > 20);
      await open.locator('#rows > tr .message').nth(3).click();
      await open.locator('article.trial').waitFor();
      back = Math.min(back, await open.evaluate(async () => {
        const started = performance.now();
        location.hash = '#trials';
        while (document.getElementById('overview').hidden) await new Promise((done) => requestAnimationFrame(done));
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        return performance.now() - started;
      }));
    }
    return { open, paint, back };
  };
  const small = await cost(few);
  const large = await cost(many);
  console.log(JSON.stringify({ paint: large.paint / small.paint, back: large.back / small.back }));
  assert.ok(large.paint <= MOST_TIMES * small.paint, `first paint: ${large.paint} against ${small.paint}`);
  assert.ok(large.back <= MOST_TIMES * small.back, `back to the list: ${large.back} against ${small.back}`);

  const { open } = large;
  const nodes = () => open.evaluate(() => document.querySelectorAll('#trials *').length);
  const all = await listed(open);
  assert.ok(all > 5_000, `${all}`);
  for (const share of [0, 0.3, 1]) {
    await open.evaluate((part) => window.scrollTo(0, document.body.scrollHeight * part), share);
    await until('rows are in sight', async () => (await open.locator('#rows > tr').count()) > 10);
    const number = await nodes();
    assert.ok(number < MOST_NODES, `${number} nodes`);
  }
  // The last one of all is a keypress away.
  await open.goto(`${many}#trials?sort=-id`);
  await until('the last one is the first', async () =>
    (await open.locator('#rows > tr').first().getAttribute('id')) === `row-${all}`);
  await unharmed(open);
});
