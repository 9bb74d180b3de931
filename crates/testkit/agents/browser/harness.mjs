// A browser that is watched: what its pages ask for, say, and trip over.
import assert from 'node:assert/strict';

const { chromium } = await import(process.env.PLAYWRIGHT);

/** Plays a scenario, then makes sure that nothing foreign ran and that no request left the machine. */
export async function play(scenario) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM,
    // Tests may run as root, where Chromium's own sandbox does not.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  try {
    const watched = { requests: [], errors: [], dialogs: [], console: [] };
    const context = async (options) => {
      const context = await browser.newContext(options);
      await context.route('**/*', (route) => {
        const url = new URL(route.request().url());
        watched.requests.push(url.href);
        return url.protocol === 'file:' || url.hostname === '127.0.0.1' ? route.continue() : route.abort();
      });
      context.setDefaultTimeout(60_000);
      return context;
    };
    const page = async (context) => {
      const page = await context.newPage();
      page.on('pageerror', (error) => watched.errors.push(String(error)));
      page.on('console', (message) => watched.console.push(`${message.type()}: ${message.text()}`));
      page.on('dialog', (dialog) => {
        watched.dialogs.push(dialog.message());
        return dialog.dismiss();
      });
      return page;
    };
    await scenario({ context, page, watched });
    const abroad = watched.requests.filter((url) => !/^(file:|http:\/\/127\.0\.0\.1:)/.test(url));
    assert.deepEqual(abroad, [], 'a request left the machine');
    assert.deepEqual(watched.errors, [], 'the page tripped');
    assert.deepEqual(watched.dialogs, []);
    const troubles = watched.console.filter((line) => /^(error|warning):/.test(line));
    assert.deepEqual(troubles, [], 'the browser complained');
  } finally {
    await browser.close();
  }
  console.log('all is well');
}

/** Looks again and again until it is so: addresses and messages of the browser come when they come. */
export async function until(what, isSo) {
  for (let look = 0; look < 600; look += 1) {
    if (await isSo()) return;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(`not so: ${what}`);
}

/** Nothing that an agent wrote has run. */
export async function unharmed(page) {
  assert.equal(await page.evaluate(() => window.pwned), undefined, 'something foreign ran');
  assert.equal(await page.locator('img, iframe, object, embed').count(), 0, 'foreign markup is in the page');
  assert.equal(await page.locator('script').count(), 1, 'a page has one script, its own');
}

/** Returns how many trials the list has, as the page says; waits until it says so. */
export async function listed(page) {
  let said = '';
  await until('the list says how many trials it has', async () => {
    said = await page.locator('#shown').innerText();
    return /^\d+/.test(said);
  });
  return Number.parseInt(said, 10);
}

/** Chooses an option by its name, which has a count beside it. */
export async function choose(page, field, name) {
  const value = await page.locator(field).evaluate(
    (select, wanted) => [...select.options].find((option) => option.dataset.name === wanted)?.value, name);
  assert.notEqual(value, undefined, `${field} has no ${name}`);
  await page.selectOption(field, value);
}
