// Pictures of the main pages, wide and narrow, light and dark.
import { pathToFileURL } from 'node:url';
import { play } from './harness.mjs';

const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

await play(async ({ context, page }) => {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark']) {
      const open = await page(await context({ viewport, colorScheme, reducedMotion: 'reduce' }));
      const shoot = (name) =>
        open.screenshot({ path: `${process.env.PICTURES}/${name}-${size}-${colorScheme}.png` });
      await open.goto(pathToFileURL(process.env.REPORT).href);
      await shoot('run');
      await open.evaluate(() => document.getElementById('changed-title').scrollIntoView());
      await shoot('changed');
      await open.evaluate(() => document.getElementById('heat-title').scrollIntoView());
      await shoot('evals');
      await open.evaluate(() => document.getElementById('effects-title').scrollIntoView());
      await shoot('effects');
      await open.evaluate(() => document.getElementById('trials').scrollIntoView());
      await shoot('trials');
      await open.goto(`${pathToFileURL(process.env.REPORT).href}#trial-67`);
      await open.locator('article.trial h2').waitFor();
      await shoot('trial');
      await open.goto(`${pathToFileURL(process.env.REPORT).href}#trial-67/step-3`);
      await open.locator('#step-3.marked').waitFor();
      await shoot('steps');
      await open.goto(`${pathToFileURL(process.env.REPORT).href}#pair-63-67`);
      await open.locator('article.pair').waitFor();
      await shoot('pair');
      await open.goto(new URL('../../', process.env.URL).href);
      await open.getByRole('heading', { name: 'Runs' }).waitFor();
      await shoot('runs');
      await open.goto(new URL('../../compare/2026-11-14-002/2026-11-14-003', process.env.URL).href);
      await open.getByRole('heading', { name: 'Two runs' }).waitFor();
      await shoot('compare');
    }
  }
});
