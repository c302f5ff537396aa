import { approveAll } from '@groundcrew/sdk';
import { callTools, say } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { token, WebWorld } from '../e2e/web-world.js';
import { executablePath, never, Pages, phone, screenshot } from './pages.js';

/** Dollars for a million tokens; the model of the tests says of each call that it took 7 and 3. */
const prices = { scripted: { input: 3_000, output: 15_000 } };
const world = new WebWorld([], ['serve', '--http-port', '0'], { prices });
const pages = new Pages(world, token);

const bash = (id: string, command: string, description: string) => ({
  id,
  name: 'bash',
  arguments: { command, description },
});

describe.skipIf(!executablePath)('what the pictures of the docs show', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    await world.start();
    await pages.start();
    await using client = world.client();
    for (const [sessionId, prompt] of [
      ['notes', 'Write the release notes of 1.4'],
      ['cache', 'Why does the cache miss on Mondays?'],
    ] as const) {
      world.model.play(say('Done.'));
      const session = await client.createSession({ sessionId, onPermissionRequest: approveAll });
      await session.sendAndWait(prompt);
    }
    world.model.play(
      callTools(bash('d1', 'sleep 0.2; ls', 'Look'), bash('d2', 'sleep 0.4; date +%Z', 'Which time zone')),
      callTools(bash('d3', 'sleep 0.3; echo 14 passed', 'Run the tests')),
      say('The test assumed UTC. It now sets its own time zone, and all 14 tests pass.'),
      say('It is in the changelog.'),
    );
    const demo = await client.createSession({ sessionId: 'demo', onPermissionRequest: approveAll });
    await demo.sendAndWait('Why does the date test fail on some machines?');
    await demo.sendAndWait('Note it in the changelog');
  }, 60_000);
  afterEach(() => pages.closeAll());
  afterAll(async () => {
    await pages.stop();
    await world.stop();
  });

  test.each(['light', 'dark'] as const)(
    'a turn is a waterfall of its calls, with time, tokens and money from the store: %s',
    async (colorScheme) => {
      const page = await pages.session('demo', { colorScheme, viewport: { width: 1280, height: 720 } });
      await page.getByRole('tab', { name: 'Timeline' }).click();
      const first = page.locator('.turn').first();
      await first.click();
      await page.locator('.waterfall .span').nth(5).waitFor();
      const kinds = await page.locator('.waterfall .kind').allTextContents();
      expect(kinds).toEqual(['model', 'tool', 'tool', 'model', 'tool', 'model']);
      // Three calls of 10 tokens, each 7 × 0.003 and 3 × 0.015 dollars.
      await first.getByText('30 tokens').waitFor();
      await first.getByText('$0.20').waitFor();
      await page
        .getByRole('link', { name: /release notes/ })
        .getByText('$0.0660')
        .waitFor();
      await screenshot(page, `inspector-${colorScheme}`);
      await page.getByRole('tab', { name: 'Usage' }).click();
      await page.getByText('4 model calls').waitFor();
      await page.getByText('$0.26').first().waitFor();
      await page.locator('.plot canvas').waitFor();
      await screenshot(page, `inspector-usage-${colorScheme}`);
    },
  );

  test('a question on a phone', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'asks', onPermissionRequest: never });
    world.model.play(callTools(bash('c1', 'npm test -- dates', 'Run the tests of dates')), say('They pass.'));
    const done = session.sendAndWait('Do the tests of dates pass now?');
    const page = await pages.session('asks', { viewport: phone });
    await page.getByText('npm test -- dates').first().waitFor();
    await screenshot(page, 'inspector-phone');
    await page.getByRole('button', { name: 'No', exact: true }).click();
    await done;
  });
});
