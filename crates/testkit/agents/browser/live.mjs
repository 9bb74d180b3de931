// The live view: a run that goes on is followed without a reload; then the list of runs, and two of them compared.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { listed, play, unharmed, until } from './harness.mjs';

await play(async ({ context, page, watched }) => {
  const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
  await open.goto(process.env.URL);
  await open.evaluate(() => { window.notReloaded = true; });
  await open.locator('#live', { hasText: 'live' }).waitFor();
  assert.match(await open.locator('.masthead').innerText(), /running/);
  await open.locator('#rows .pill.running', { hasText: 'agent at work' }).first().waitFor();
  const passed = open.locator('#rows > tr[data-status=passed]');
  assert.equal(await passed.count(), 0);

  // The choice made here survives what comes in.
  assert.equal(await listed(open), 2);
  await open.fill('#filter-text', 'second');
  assert.equal(await open.locator('#rows > tr').count(), 1);
  writeFileSync(process.env.GATE_ONE, '');
  await until('the first has passed', async () => /1\s+passed/.test(await open.locator('.masthead').innerText()));
  assert.match(await open.locator('.masthead').innerText(), /running/);
  assert.equal(await open.locator('#rows > tr').count(), 1);

  // A trial that is open while it ends.
  await open.locator('#rows > tr:visible .id a').click();
  await open.locator('article.trial .pill.running').waitFor();
  writeFileSync(process.env.GATE_TWO, '');
  await open.locator('article.trial .pill.passed').first().waitFor();
  await open.locator('.diff ins', { hasText: 'pwned' }).waitFor();
  assert.match(await open.locator('.diff').innerText(), /<script>window\.pwned=1<\/script>/);
  assert.match(await open.locator('.session').innerText(), /<script>window\.pwned=1<\/script>/);
  await unharmed(open);
  await open.keyboard.press('Escape');
  await open.locator('.masthead .pill', { hasText: 'complete' }).waitFor();
  await open.click('form.filters button');
  await until('both have passed', async () => (await passed.count()) === 2);
  assert.equal(await open.evaluate(() => window.notReloaded), true);

  // A file of the trial is text.
  const file = await page(open.context());
  const answer = await file.goto(new URL('trials/2/changes.diff', process.env.URL).href);
  assert.match(answer.headers()['content-type'], /^text\/plain/);
  assert.equal(await file.evaluate(() => window.pwned), undefined);

  await open.getByRole('link', { name: 'All runs' }).click();
  await open.getByRole('heading', { name: 'Runs' }).waitFor();
  const boxes = open.locator('input[name=run]');
  assert.equal(await boxes.count(), 2);
  assert.equal(await open.locator('#compare').getAttribute('aria-disabled'), 'true');
  await boxes.nth(0).check();
  await boxes.nth(1).check();
  await open.locator('#compare').click();
  await open.getByRole('heading', { name: 'Two runs' }).waitFor();
  assert.match(await open.locator('.callout').innerText(), /no eval in common/);
  assert.match(await open.locator('.callout').innerText(), /rest\/pagination/);
  await unharmed(open);
  await open.goBack();
  const enabled = async () => (await open.locator('#compare').getAttribute('aria-disabled')) === null;
  await until('the choice is as it was', enabled);
  assert.ok(watched.requests.length > 0);
});
