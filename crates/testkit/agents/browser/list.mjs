// The list of trials: sorted, narrowed, moved in by keys; causes of failures; two trials chosen; and back again.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { accessible } from './axe.mjs';
import { choose, listed, play, unharmed, until } from './harness.mjs';

const report = pathToFileURL(process.env.REPORT).href;

await play(async ({ context, page }) => {
  const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
  await open.goto(`${report}#trials`);
  const all = await listed(open);
  const column = (name) => open.locator(`#rows > tr > ${name}`).allInnerTexts();
  const clear = async () => {
    await open.click('form.filters button');
    await until('all are listed', async () => (await listed(open)) === all);
  };

  // What did not pass comes first, and only what is in sight is in the page.
  assert.match((await column('.status'))[0], /failed/);
  assert.ok((await open.locator('#rows > tr').count()) < 70, 'a window of rows');
  assert.equal(await open.locator('table.list').getAttribute('aria-rowcount'), String(all + 1));
  await open.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await until('the last rows are there', async () => /passed/.test((await column('.status')).at(-1)));
  assert.equal(await open.locator('#rows > tr').last().getAttribute('aria-rowindex'), String(all + 1));
  assert.equal(await open.locator('.list thead').evaluate((head) => {
    const { top } = head.querySelector('th').getBoundingClientRect();
    return top >= 0 && top < 100;
  }), true, 'the names of the columns stay in sight');

  // By every column, both ways, and back to the order of Terca.
  await open.evaluate(() => document.getElementById('filters').scrollIntoView());
  for (const [name, cell, sort] of [['Cost', '.col-cost', '-cost'], ['Trial', '.id', 'id'], ['Score', '.col-score', '-score'],
    ['Tokens', '.col-tokens', '-tokens'], ['Time', '.col-time', '-time'], ['Eval', 'th', 'eval'], ['Rep.', '.col-repetition', 'repetition'],
    ['Variant', '.variant', 'variant'], ['Status', '.status', 'rank'], ['Outcome', '.message', 'outcome']]) {
    const button = open.locator('.list thead button', { hasText: name });
    await button.click();
    assert.ok(open.url().endsWith(`sort=${sort}`), `${open.url()} is not sorted by ${sort}`);
    const way = sort.startsWith('-') ? 'descending' : 'ascending';
    assert.equal(await open.locator(`.list th.col-${sort.replace('-', '')}`).getAttribute('aria-sort'), way);
    const once = await column(cell);
    await button.click();
    assert.notDeepEqual(await column(cell), once, `${name} the other way round`);
    await button.click();
    assert.equal(await open.locator('.list th[aria-sort]').count(), 0);
  }
  await open.locator('.list thead button', { hasText: 'Cost' }).click();
  const costs = (await column('.col-cost')).map((text) => Number.parseFloat(text.slice(1)));
  assert.deepEqual(costs, [...costs].sort((a, b) => b - a));

  // An address has the filter and the order.
  await open.goto(`${report}#trials?status=error&sort=-id`);
  await until('only errors', async () => (await listed(open)) < all);
  const ids = (await column('.id')).map((text) => Number(text.slice(1)));
  assert.deepEqual(ids, [...ids].sort((a, b) => b - a));
  assert.ok((await column('.status')).every((status) => status === 'error'));
  await clear();

  // Values with their counts; a count is what choosing it gives.
  for (const [field, name] of [['#filter-test', 'unit-tests'], ['#filter-error', 'rateLimit'], ['#filter-tool', 'firestore: search_docs'],
    ['#filter-tag', 'slow'], ['#filter-status', 'timed out']]) {
    const option = open.locator(`${field} option`, { hasText: name });
    const count = Number(/\((\d+)\)$/.exec(await option.textContent())[1]);
    assert.ok(count > 0, `${field} ${name}`);
    await choose(open, field, name);
    assert.equal(await listed(open), count, `${field} ${name}`);
    await clear();
  }

  // The causes of failures lead to their trials.
  const cause = open.locator('.causes tbody tr').first();
  const struck = Number(await cause.locator('td').first().innerText());
  assert.match(await cause.innerText(), /‹n› of ‹n› tests passed: expected ‹n›, got ‹n›|exit status 2/);
  await cause.locator('a').click();
  await until('the trials of a cause', async () => (await listed(open)) === struck);
  await clear();

  // By keys: down, open, back to the same place.
  await open.keyboard.press('j');
  await open.keyboard.press('j');
  await open.keyboard.press('j');
  await open.keyboard.press('k');
  const focused = () => open.evaluate(() => document.activeElement.closest('tr')?.id);
  assert.equal(await focused(), await open.locator('#rows > tr').nth(1).getAttribute('id'));
  for (let press = 0; press < 40; press += 1) await open.keyboard.press('j');
  const place = await focused();
  const scrolled = await open.evaluate(() => window.scrollY);
  const kept = await open.locator(`#${place}`).elementHandle();
  await open.keyboard.press('Enter');
  await open.locator('article.trial').waitFor();
  await open.keyboard.press('Escape');
  await open.locator('#overview').waitFor({ state: 'visible' });
  assert.equal(await focused(), place);
  assert.equal(await open.evaluate(() => window.scrollY), scrolled);
  assert.equal(await kept.evaluate((row) => row.isConnected), true, 'the list was not made again');

  // From trial to trial, and back to the row of the last one.
  await open.keyboard.press('Enter');
  await open.locator('article.trial').waitFor();
  for (let press = 0; press < 30; press += 1) await open.keyboard.press('j');
  // The address comes first, and then the trial.
  const shown = () => open.evaluate(() => [location.hash, document.querySelector('#stage article.trial')?.dataset.trial]);
  await until('the last one is shown', async () => {
    const [address, trial] = await shown();
    return address === `#trial-${trial}`;
  });
  const [, last] = await shown();
  await open.keyboard.press('Escape');
  await until('the row of the last one has the focus', async () => (await focused()) === `row-${last}`);

  // Two are chosen, by key and by hand.
  await open.keyboard.press('x');
  assert.match(await open.locator('#picked').innerText(), new RegExp(`Trial ${last} is chosen`));
  await open.locator('#rows > tr:not(:has(input:checked)) input[name=pick]').nth(12).check();
  assert.match(await open.locator('#picked a').getAttribute('href'), new RegExp(`^#pair-${last}-\\d+$`));
  await open.locator('#picked button').click();
  assert.equal(await open.locator('#picked').isVisible(), false);

  // A click on a row opens it; the keys are told.
  await open.locator('#rows > tr .message').nth(14).click();
  await open.locator('article.trial').waitFor();
  await open.keyboard.press('?');
  assert.match(await open.locator('#keys').innerText(), /next and the previous trial/);
  await open.keyboard.press('Escape');
  assert.equal(await open.locator('#keys').isVisible(), false);
  await open.keyboard.press('Escape');
  await open.locator('#overview').waitFor({ state: 'visible' });
  await unharmed(open);

  // On a phone nothing scrolls sideways, and a row opens by a touch.
  for (const width of [390, 1024]) {
    const other = await page(await context({ viewport: { width, height: 844 } }));
    await other.goto(`${report}#trials?status=failed`);
    await until('it is narrowed', async () => (await listed(other)) < all);
    assert.ok((await other.evaluate(() => document.documentElement.scrollWidth)) <= width, `${width}`);
    const heights = await other.locator('#rows > tr').evaluateAll((rows) => rows.map((row) => row.offsetHeight));
    assert.equal(new Set(heights).size, 1, 'all rows are of one height');
    await other.locator('#rows > tr .status').first().click();
    await other.locator('article.trial').waitFor();
  }

  // For those who do not see it: light and dark, with everything in it.
  for (const colorScheme of ['light', 'dark']) {
    const other = await page(await context({ colorScheme, reducedMotion: 'reduce', viewport: { width: 1280, height: 900 } }));
    await other.goto(`${report}#trials?sort=-score&find=expected`);
    await other.locator('#search-results mark').first().waitFor();
    await other.locator('input[name=pick]').first().check();
    await accessible(other, `the list, ${colorScheme}`);
    await other.locator('h2#trials-title').click();
    await other.keyboard.press('?');
    await accessible(other, `the keys, ${colorScheme}`);
  }

  // Without JavaScript the first rows are there, with the failing tests, and it is said that nothing opens.
  const plain = await page(await context({ javaScriptEnabled: false, viewport: { width: 1280, height: 900 } }));
  await plain.goto(report);
  assert.equal(await plain.locator('#rows > tr').count(), all);
  assert.match(await plain.locator('noscript').innerText(), /Without JavaScript, trials cannot be opened/);
  assert.match(await plain.locator('#rows > tr').first().innerText(), /builds: exit status 2; unit-tests: /);
  assert.equal(await plain.locator('form.filters').isVisible(), false);
});
