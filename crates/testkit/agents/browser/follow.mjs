// A trial that is open while its agent works; a remark about it; tests that run again; a server that ends and comes back.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { play, unharmed, until } from './harness.mjs';

const gate = (name) => writeFileSync(`${process.env.GATES}/${name}`, '');
const made = (name) => until(`${name} is made`, async () => existsSync(`${process.env.GATES}/${name}`));

await play(async ({ context, page, watched }) => {
  const open = await page(await context({ viewport: { width: 1280, height: 900 } }));
  await open.goto(process.env.URL);
  await open.evaluate(() => { window.notReloaded = true; });

  // What goes on is named on the overview.
  const now = open.locator('.now li');
  await now.filter({ hasText: 'task' }).waitFor();
  assert.match(await open.locator('.now').innerText(), /0 of 1 trial done/);

  // The session grows while it is read, and what the reader opened stays open.
  await open.goto(`${process.env.URL}#trial-1`);
  const steps = open.locator('article.trial .session > .step');
  await until('the first steps are there', async () => (await steps.count()) >= 2);
  const call = open.locator('article.trial .session > details.tool').first();
  await call.locator('summary').first().click();
  assert.equal(await call.getAttribute('open'), '');
  const before = await steps.count();
  gate('more');
  await until('new steps are there', async () => (await steps.count()) >= before + 2);
  assert.equal(await call.getAttribute('open'), '', 'the fold is still open');
  await open.locator('article.trial .pill.running').waitFor();
  gate('end');
  await open.locator('article.trial header .pill.passed').waitFor();
  assert.equal(await call.getAttribute('open'), '');
  assert.equal(await open.evaluate(() => window.notReloaded), true);

  // A remark is kept, and another tab hears of it. What is written there and not kept stays.
  const other = await page(open.context());
  await other.goto(`${process.env.URL}#trial-1`);
  await other.locator('details.remark > summary').click();
  await other.locator('form.remark input').fill('half writ');
  await open.locator('details.remark > summary').click();
  await open.locator('form.remark textarea').fill('the grader is wrong <img src=x onerror=alert(1)>');
  await open.locator('form.remark input').fill('grader, odd');
  await open.locator('form.remark button').click();
  await open.locator('form.remark [role=status]', { hasText: 'kept' }).waitFor();
  await other.bringToFront();
  await until('the other tab shows it', async () => (await other.locator('form.remark textarea').inputValue()).startsWith('the grader is wrong'));
  assert.equal(await other.locator('form.remark input').inputValue(), 'half writ');
  // The list shows the tags, and finds the trial by them, without a reload.
  await other.goto(`${process.env.URL}#trials`);
  await other.locator('#rows .remarked', { hasText: '✎ grader, odd' }).waitFor();
  await other.locator('#filter-tag').selectOption('odd');
  await until('one trial has the tag', async () => (await other.locator('#rows tr').count()) === 1);
  await unharmed(other);
  await other.close();
  await open.bringToFront();

  // The tests run again, with another result: the page shows it.
  await open.keyboard.press('Escape');
  await open.locator('#live', { hasText: 'watching' }).waitFor();
  gate('regrade');
  await made('regraded');
  await open.locator('.masthead', { hasText: 'graded again' }).waitFor();
  await open.locator('#rows > tr[data-status=failed]').waitFor();
  assert.equal(await open.evaluate(() => window.notReloaded), true);

  // The server ends: the page says so, also of a trial that is opened now. It comes back at the same address.
  gate('stop');
  await made('stopped');
  await open.locator('#live', { hasText: 'does not answer' }).waitFor();
  await open.locator('#rows > tr .id a').click();
  await open.locator('#stage', { hasText: 'Start `terca view` again' }).waitFor();
  gate('start');
  await made('started');
  await open.keyboard.press('Escape');
  await open.locator('#live', { hasText: 'watching' }).waitFor();
  await open.locator('#rows > tr .id a').click();
  await open.locator('article.trial').waitFor();
  assert.equal(await open.evaluate(() => window.notReloaded), true);
  // Connections that were cut or refused are told in the console.
  watched.console = watched.console.filter((line) => !/ERR_(CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING)/.test(line));
});
