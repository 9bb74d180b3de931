// Words in everything that agents and tests wrote, in the file and by the server: found with their places, as text.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { listed, play, unharmed, until } from './harness.mjs';

const addresses = [pathToFileURL(process.env.REPORT).href, process.env.URL];

await play(async ({ context, page, watched }) => {
  for (const address of addresses) {
    const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
    await open.goto(`${address}#trials`);
    await listed(open);
    const results = open.locator('#search-results > li');
    const search = async (words) => {
      await open.fill('#search-words', words);
      await open.keyboard.press('Enter');
      await until(`the search for ${words} has ended`, async () =>
        /^Found in \d+ trials?\.|More words/.test(await open.locator('#search-progress').innerText()));
    };
    await open.keyboard.press('s');
    assert.equal(await open.evaluate(() => document.activeElement.id), 'search-words');

    // In a transcript, whatever the case.
    await search('DOCUMENTS cursors');
    assert.equal(await results.count(), 28);
    assert.match(await results.first().innerText(), /I'll look at how the SDK documents cursors/);
    assert.equal(await results.first().locator('mark').first().innerText(), 'documents cursors');
    assert.match(open.url(), /find=DOCUMENTS\+cursors/);

    // A place in a transcript is a step.
    const step = results.first().locator('ul a').first();
    assert.match(await step.getAttribute('href'), /^#trial-\d+\/step-\d+$/);
    await step.click();
    await until('the step is in sight', () => open.evaluate(() => {
      const place = document.getElementById(location.hash.split('/')[1])?.getBoundingClientRect();
      return place && place.top >= 0 && place.top < window.innerHeight;
    }));
    await open.goBack();
    await open.locator('#overview').waitFor({ state: 'visible' });

    // In a diff, and in a log, with signs of markup in it.
    await search('gives the page after a name');
    assert.equal(await results.count(), 28);
    await search('<script>window.pwned=1</script><img');
    const evil = await results.count();
    assert.ok(evil >= 4 && evil < 28, `${evil}`);
    await unharmed(open);
    await search('words that nobody wrote');
    assert.equal(await results.count(), 0);
    assert.equal(await open.locator('#search-progress').innerText(), 'Found in 0 trials.');

    // A result leads to its trial, and an address to its search.
    await open.goto(`${address}#trials?find=Vitest%20run`);
    await until('an address searches', async () => (await results.count()) > 0);
    await results.first().locator('ul a').first().click();
    await open.locator('article.trial').waitFor();
    assert.match(await open.locator('article.trial').textContent(), /vitest run/);
    await open.goBack();
    await open.locator('#overview').waitFor({ state: 'visible' });
    assert.ok((await results.count()) > 0, 'what was found is still there');
  }
  watched.requests.length = 0;
});
