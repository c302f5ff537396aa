import { say } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TenantsWorld, tokenOf } from '../e2e/tenants-world.js';
import { executablePath, Pages } from './pages.js';

const world = new TenantsWorld();
const server = { url: '' };
const pages = new Pages(server, '');

describe.skipIf(!executablePath)('the page of a server of several tenants', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    world.tokens({
      ada: ['acme', 'member'],
      eve: ['acme', 'observer'],
      bob: ['other', 'member'],
      root: ['default', 'admin'],
    });
    await world.start([say('Known to acme alone.'), say('Sent by Ada.')], ['--tenants-share-files']);
    server.url = await world.url();
    await pages.start();
    const client = await world.client(tokenOf('ada'));
    const session = await client.create({ sessionId: 'of-acme' });
    // A session with a name asks for no title, which would take a reply of the script.
    await session.call('session.name.set', { name: 'Remember this' });
    await session.turn('Keep it');
  }, 60_000);
  afterEach(() => pages.closeAll());
  afterAll(async () => {
    await pages.stop();
    await world.stop();
  });

  /** The page as the one sees it who has this token. */
  const pageOf = async (name: string) => {
    const page = await pages.open({ path: `/#${tokenOf(name)}` });
    await page.getByRole('navigation').waitFor();
    return page;
  };

  test('a tenant sees neither sessions, events, requests nor usage of another', async () => {
    for (const name of ['bob', 'root']) {
      const page = await pageOf(name);
      await page.getByText('No sessions yet.').waitFor();
      await page.goto(`${server.url}/#/of-acme`);
      await page.getByText('unreachable').waitFor();
      expect(await page.getByText('Known to acme alone').count()).toBe(0);
      const read = await page.evaluate(async () => {
        const asked = [
          '/events?session=of-acme&follow=0',
          '/requests?session=of-acme',
          '/usage?session=of-acme',
          '/stored',
        ];
        const answers = await Promise.all(asked.map((path) => fetch(path)));
        return Promise.all(answers.map(async (answer) => `${answer.status} ${(await answer.text()).trim()}`));
      });
      expect(read).toEqual([
        '404 There is no such session',
        expect.stringMatching(/^404 There is no turn last/),
        '200 {"uses":[],"after":0}',
        '200 {}',
      ]);
    }
  });

  test('an observer reads all of its tenant, and the page says why it can do nothing', async () => {
    const page = await pageOf('eve');
    await page.getByRole('link', { name: /Remember this/ }).click();
    await page.getByText('Known to acme alone.').first().waitFor();
    await page.getByLabel('Prompt').fill('Let me');
    await page.getByRole('button', { name: 'Send' }).click();
    await page
      .getByRole('alert')
      .getByText(/observer|may not|forbidden/i)
      .waitFor();
    expect(await page.getByLabel('Prompt').inputValue()).toBe('Let me');
    await page.getByRole('tab', { name: 'Events' }).click();
    await page
      .getByRole('button', { name: /user\.message/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Fork before this event' }).click();
    await page.locator('.events').getByRole('alert').waitFor();
    await page.getByRole('button', { name: 'New', exact: true }).click();
    await page.locator('.sessions').getByRole('alert').waitFor();
  });

  test('a member sends', async () => {
    const page = await pageOf('ada');
    await page.getByRole('link', { name: /Remember this/ }).click();
    await page.getByLabel('Prompt').fill('And this');
    await page.keyboard.press('Enter');
    await page.getByText('Sent by Ada.').first().waitFor();
  });
});
