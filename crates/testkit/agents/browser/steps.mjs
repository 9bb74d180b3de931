// The page of a trial: the way to a step, the outline, the search, what was done, and nothing foreign run.
import assert from 'node:assert/strict';
import { pathToFileURL } from 'node:url';
import { play, unharmed, until } from './harness.mjs';
import { accessible } from './axe.mjs';

const report = pathToFileURL(process.env.REPORT).href;

await play(async ({ context, page }) => {
  const wide = await context({ viewport: { width: 1440, height: 900 } });
  await wide.grantPermissions(['clipboard-read', 'clipboard-write']);
  const open = await page(wide);

  // A link to a step opens it, goes there and marks it.
  await open.goto(`${report}#trial-2/step-3`);
  const step = open.locator('#step-3');
  await open.locator('#step-3.marked').waitFor();
  assert.equal(await step.getAttribute('open'), '', 'the step is open');
  const top = (await step.boundingBox()).y;
  assert.ok(top >= 0 && top < 900, `the step is in view: ${top}`);
  assert.match(await step.innerText(), /\+3\.2s/);
  assert.match(await step.innerText(), /took 1\.5s/);
  assert.match(await step.innerText(), /9\.0k in, 240 out tokens/);

  // Eight lines of an output, and the rest in a fold that is closed and looks so.
  assert.equal(await step.locator('.output > pre').innerText().then((text) => text.trim().split('\n').length), 8);
  const fold = step.locator('.output details.fold');
  assert.equal(await fold.getAttribute('open'), null);
  assert.equal(await fold.locator('summary').innerText(), '32 more lines');
  const mark = (summary) => summary.evaluate((one) => getComputedStyle(one, '::before').content);
  assert.equal(await mark(step.locator(':scope > summary')), '"▾"');
  assert.notEqual(await mark(fold.locator('summary')), '"▾"', 'a closed fold in an open step does not look open');

  // The records as they are.
  await step.locator('.raw summary').click();
  assert.match(await step.locator('.raw pre').innerText(), /"type":"toolCall"/);

  // An edit is a diff, a file that was read is plain text, and a message is prose.
  const edit = open.locator('.step.tool', { hasText: 'Edit' });
  await edit.locator('summary').first().click();
  assert.match(await edit.locator('del').innerText(), /getDocs\(all\)/);
  assert.match(await edit.locator('ins').innerText(), /limit\(size\)/);
  const read = open.locator('.step.tool', { hasText: 'Read' });
  await read.locator('summary').first().click();
  assert.match(await read.locator('.output').first().innerText(), /export/);
  const said = open.locator('.step.agent').last();
  assert.equal(await said.locator('strong').innerText(), 'limit');
  assert.equal(await said.locator('li').count(), 2);
  assert.match(await said.locator('pre.code').first().innerText(), /const/);

  // Four lists, each entry of which leads to its step.
  const lists = await open.locator('.uses summary').allInnerTexts();
  assert.deepEqual(lists.map((text) => text.replace(/\s+/g, ' ').trim()), ['Files read 1', 'Files written 1', 'Commands 2', 'MCP calls 1']);
  await open.locator('.uses a[aria-label="step 3"]').click();
  await open.locator('#step-3.marked').waitFor();
  assert.match(open.url(), /#trial-2\/step-3$/);
  await open.locator('.waterfall > summary').click();
  assert.equal(await open.locator('.waterfall li').count(), 8);
  assert.match(await open.locator('.waterfall').innerText(), /429/);

  // The outline, the siblings, and the counterpart.
  assert.equal(await open.locator('.outline').isVisible(), true);
  await open.locator('.outline a', { hasText: 'npm test' }).click();
  await open.locator('.step.tool.marked', { hasText: 'npm test' }).waitFor();
  assert.equal(await open.locator('.siblings .sibling').count(), 20);
  assert.equal(await open.locator('.sibling[aria-current=page]').getAttribute('href'), '#trial-2');
  assert.match(await open.locator('.compare').innerText(), /Compare with #\d+ \(claude · with-mcp, \w+\)/);

  // The search goes from one match to the next, and opens what is folded.
  await open.keyboard.press('/');
  await open.keyboard.type('route-40');
  const told = open.locator('.trial-tools [role=status]');
  await until('the search has found it', async () => (await told.innerText()) === '0 of 1');
  await open.keyboard.press('Enter');
  assert.equal(await open.locator('pre', { hasText: 'route-40' }).first().isVisible(), true);
  await open.fill('.trial-search', 'no such words');
  await until('nothing is found', async () => (await told.innerText()) === 'nothing found');
  await open.keyboard.press('Escape');
  await open.getByRole('button', { name: 'Expand all' }).click();
  assert.equal(await open.locator('.session .tool:not([open])').count(), 0);
  await open.getByRole('button', { name: 'Collapse all' }).click();
  assert.equal(await open.locator('.session .tool[open]').count(), 0);

  // Keys lead to the parts.
  for (const [key, part] of [['t', 'tests'], ['d', 'changes'], ['p', 'prompt'], ['l', 'log']]) {
    await open.keyboard.press(key);
    await open.locator(`.part-${part}.marked`).waitFor();
  }
  assert.equal(await open.locator('.log').isVisible(), true, 'the log is open');

  // The prompt is copied as it is.
  await open.locator('.part-prompt .copy').click();
  await open.locator('.part-prompt .copy', { hasText: 'Copied' }).waitFor();
  assert.match(await open.evaluate(() => navigator.clipboard.readText()), /pages of 20/);

  // Changes: a list of files with counts, each with numbers of lines.
  assert.deepEqual(await open.locator('.files a').allInnerTexts(), ['src/routes/list.ts', 'README.md']);
  assert.match(await open.locator('.files li').first().innerText(), /\+9\s+−4/);
  await open.locator('.files a').last().click();
  await open.locator('#file-2.marked').waitFor();
  assert.match(await open.locator('#file-2 ins .numbers').innerText(), /^11/);

  // A judge has its reasons, and the score follows from the weights.
  const judged = Number(process.env.JUDGED);
  await open.goto(`${report}#trial-${judged}`);
  await open.locator('.judge').waitFor();
  const judge = await open.locator('.judge').innerText();
  assert.match(judge, /adds a helper around the old client/);
  assert.match(judge, /by claude-code with claude-opus-5, \$0\.07/);
  assert.match(judge, /<script>window\.pwned=1<\/script>/);
  assert.match(await open.locator('.part-tests .sum').innerText(), /^score \d\.\d+ = \(1 × [\d.]+ \+ 1 × [\d.]+ \+ 1 × [\d.]+\) \/ 3$/);
  await unharmed(open);

  // A phone scrolls down only.
  const phone = await page(await context({ viewport: { width: 390, height: 844 } }));
  await phone.goto(`${report}#trial-2/step-3`);
  await phone.locator('#step-3.marked').waitFor();
  const width = await phone.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `the page is ${width} wide`);

  // For everybody, light and dark, with every fold open.
  await accessible(phone, 'a trial on a phone');
  for (const colorScheme of ['light', 'dark']) {
    await open.emulateMedia({ colorScheme });
    await open.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
    await accessible(open, `a trial, ${colorScheme}`);
  }
});
