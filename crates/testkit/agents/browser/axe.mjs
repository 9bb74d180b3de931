// A check of a page for accessibility, by axe.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const axe = readFileSync(new URL('../axe-core/axe.min.js', pathToFileURL(process.env.PLAYWRIGHT)), 'utf8');

/** Finds no violation on the page as it is now. */
export async function accessible(page, what) {
  await page.evaluate(axe);
  const violations = await page.evaluate(async () => {
    const { violations } = await window.axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary ?? ''}`).join(' | ')}`);
  });
  assert.deepEqual(violations, [], `axe on ${what}`);
}
