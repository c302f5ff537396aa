import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { approveAll, defineTool } from '@groundcrew/sdk';
import { evaluate, temporaryDirectory } from '@groundcrew/testing';
import { callTools, say } from '@groundcrew/testkit';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { testServer, until } from '../e2e/mcp-world.js';
import { token, WebWorld } from '../e2e/web-world.js';
import { executablePath, faultsOf, never, Pages, payload, smallPhone } from './pages.js';

/** As a name of a file can have it: without a slash. */
const markup = `<img src=x onerror="document.title='owned'">`;
const script = `</script><script>document.title='owned'</script>`;
const link = `[x](javascript:document.title='owned')`;
const hostile = `${payload}${script}${link}`;

const world = new WebWorld([]);
const pages = new Pages(world, token);

describe.skipIf(!executablePath)('a page full of hostile words', { timeout: 90_000 }, () => {
  beforeAll(async () => {
    await world.start();
    await pages.start();
  }, 60_000);
  afterEach(() => pages.closeAll());
  afterAll(async () => {
    await pages.stop();
    await world.stop();
  });

  test('names, descriptions and errors of servers, tools, agents, skills, files, todos, models and plans are text, and nothing is asked for elsewhere', async () => {
    using folder = temporaryDirectory();
    const workingDirectory = join(folder.path, `work ${markup}`);
    const skills = join(folder.path, 'skills');
    mkdirSync(workingDirectory);
    mkdirSync(join(skills, 'odd'), { recursive: true });
    writeFileSync(
      join(skills, 'odd', 'SKILL.md'),
      `---\nname: ${JSON.stringify(`odd ${markup}`)}\ndescription: ${JSON.stringify(hostile)}\n---\n${hostile}\n`,
    );
    await using client = world.client();
    const session = await client.createSession({
      sessionId: 'hostile',
      workingDirectory,
      model: 'scripted',
      skillDirectories: [skills],
      customAgents: [{ name: 'scout', displayName: hostile, description: hostile, prompt: hostile }],
      mcpServers: {
        [`srv ${markup}`]: testServer({ tools: ['echo', `odd ${markup}`], description: hostile }),
        gone: testServer({ dieAt: 'initialize', stderr: hostile }),
      },
      tools: [
        defineTool('shout', {
          description: hostile,
          parameters: { type: 'object', properties: { [markup]: { type: 'string', description: hostile } } },
          handler: () => ({ textResultForLlm: hostile, resultType: 'failure', error: hostile }),
        }),
      ],
      hooks: { onPreToolUse: () => ({ additionalContext: hostile }) },
      onPermissionRequest: approveAll,
    });
    await session.call('session.name.set', { name: hostile });
    const todo = `INSERT INTO todos (id, title, status) VALUES ('t1', '${hostile.replaceAll("'", "''")}', 'pending')`;
    const calls: readonly (readonly [string, object])[] = [
      ['create', { path: `${markup}.txt`, file_text: `${hostile}\n` }],
      ['edit', { path: `${markup}.txt`, old_str: script, new_str: `${hostile}${hostile}` }],
      ['shout', { [markup]: hostile }],
      ['sql', { query: todo, description: hostile }],
      ['skill', { skill: `odd ${markup}` }],
      ['view', { path: `${markup}.gone` }],
      ['task', { agent_type: 'scout', name: hostile, description: hostile, prompt: hostile, mode: 'sync' }],
      [hostile, { [hostile]: hostile }],
    ];
    for (const [at, [name, given]] of calls.entries()) {
      world.model.play(
        callTools({ id: `${hostile} ${at}`, name, arguments: given }),
        say(`Done ${at}. ${hostile}`),
      );
      if (name === 'task') world.model.play(say(`Back. ${hostile}`));
      await session.sendAndWait(`Do ${hostile}`, 30_000).catch(() => undefined);
    }
    const servers = await session.call('session.mcp.list');
    const [first] = servers.servers;
    world.model.play(({ body }) => {
      const named =
        (body as { tools?: { function: { name: string } }[] }).tools?.map((tool) => tool.function.name) ?? [];
      const name = named.find((each) => each.startsWith('srv')) ?? 'echo';
      return callTools({ id: 'm1', name, arguments: { [markup]: hostile } });
    }, say('Called.'));
    await session.sendAndWait('Call the server');
    expect(first?.name).toContain('<img');
    const page = await watched('hostile');
    await page.getByText('Called.').first().waitFor();
    for (const tab of ['Conversation', 'Timeline', 'Events', 'Requests', 'Context', 'Usage']) {
      await page.getByRole('tab', { name: tab }).click();
      await page.evaluate(() => {
        for (const closed of document.querySelectorAll('details')) closed.open = true;
      });
      if (tab === 'Events')
        for (const type of [
          'session.mcp_server_status_changed',
          'subagent.started',
          'tool.execution_complete',
        ]) {
          await page
            .getByLabel('Type of event')
            .selectOption(type)
            .catch(() => undefined);
          await page.locator('.event').first().click();
        }
      expect([tab, await faultsOf(page)]).toEqual([tab, []]);
      await unharmed(page);
    }
    const small = await watched('hostile', smallPhone, 'dark');
    await small.getByText('Called.').first().waitFor();
    for (const tab of ['Conversation', 'Timeline', 'Events', 'Requests', 'Context', 'Usage']) {
      await small.getByRole('tab', { name: tab }).click();
      await small.evaluate(() => {
        for (const closed of document.querySelectorAll('details')) closed.open = true;
      });
      const over = await small.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([tab, over, await cutOff(small), await faultsOf(small)]).toEqual([tab, 0, [], []]);
    }
    await page.getByLabel('Search sessions').fill('<img');
    await page
      .getByRole('link', { name: /onerror/ })
      .first()
      .waitFor();
    await unharmed(page);
  });

  test('a question of a server is text, whatever its words and the names of its fields, beside another one of the same fields', async () => {
    await using client = world.client();
    const silent = { onPermissionRequest: never, onUserInputRequest: never, onElicitationRequest: never };
    const session = await client.createSession({
      sessionId: 'asks',
      ...silent,
      mcpServers: { [`srv ${markup}`]: testServer({ tools: ['echo'] }) },
    });
    const names = [
      'l',
      '__k',
      '__e',
      'submit',
      'insertBefore',
      'nodeType',
      'childNodes',
      'parentNode',
      'firstChild',
      'elements',
      'addEventListener',
      'constructor',
      'name',
      hostile,
    ];
    const properties = Object.fromEntries(
      names.map((name) => [name, { type: 'string', title: `${name} of it`, description: hostile }]),
    );
    const choice = { type: 'string', title: 'Choice', enum: ['a', hostile], enumNames: [hostile, 'plain'] };
    const form = (message: string) =>
      session.call('session.ui.elicitation', {
        message: `${message} ${hostile}`,
        requestedSchema: { type: 'object', properties: { ...properties, choice }, required: names },
      });
    const answers = [form('Form one'), form('Form two')];
    await until(async () => (await session.call('session.questions.pending')).items.length === 2);
    const page = await watched('asks', smallPhone);
    const forms = page.getByRole('region', { name: 'Open questions' }).locator('form');
    await forms.nth(1).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
    ).toBe(0);
    for (const [at, word] of ['one', 'two'].entries()) {
      // Each of the first is gone when it is answered.
      const asked = forms.filter({ hasText: at === 0 ? 'Form one' : 'Form two' });
      for (const name of names)
        await asked.getByLabel(`${name} of it`, { exact: true }).fill(`${word} ${name.slice(0, 20)}`);
      await asked.getByLabel('Choice').selectOption({ label: at === 0 ? hostile : 'plain' });
      await unharmed(page);
      await asked.getByRole('button', { name: 'Send' }).click();
      expect(await answers[at]).toEqual({
        action: 'accept',
        content: {
          ...Object.fromEntries(names.map((name) => [name, `${word} ${name.slice(0, 20)}`])),
          choice: at === 0 ? 'a' : hostile,
        },
      });
    }
    world.model.play(({ body }) => {
      const named =
        (body as { tools?: { function: { name: string } }[] }).tools?.map((tool) => tool.function.name) ?? [];
      return callTools({
        id: 'm1',
        name: named.find((each) => each.startsWith('srv')) ?? 'echo',
        arguments: { [markup]: hostile },
      });
    }, say('Not called.'));
    const turn = session.sendAndWait('Call it');
    const asked = page.getByRole('region', { name: 'Open questions' });
    await asked.getByText(/Allow to call/).waitFor();
    await unharmed(page);
    await asked.getByRole('button', { name: 'No', exact: true }).click();
    await turn;
    const visit = session
      .call('session.ui.elicitation', {
        mode: 'url',
        message: hostile,
        url: "javascript:document.title='owned'//",
        elicitationId: 'v1',
      } as never)
      .catch((error: Error) => error.message);
    const seen = await Promise.race([visit, asked.waitFor().then(() => 'asked')]);
    if (seen === 'asked') {
      expect(await asked.locator('a').count()).toBe(0);
      await asked.getByRole('button', { name: 'Decline' }).click();
    }
    await unharmed(page);
  });

  test('the page of an evaluation shows what models and datasets say as text', async () => {
    using folder = temporaryDirectory();
    await using client = world.client();
    world.model.play(say(hostile), say(`${hostile} otherwise`));
    const variant = { onPermissionRequest: approveAll };
    const evaluation = await evaluate({
      client,
      concurrency: 1,
      dataset: [
        {
          name: hostile,
          prompt: hostile,
          checks: [{ name: hostile, judge: async () => ({ passed: false, reason: hostile }) }],
        },
      ],
      variants: { [hostile]: variant, [`${hostile} 2`]: variant },
    });
    const file = join(folder.path, 'evaluation.html');
    await evaluation.writePage(file);
    const context = await pages.browser.newContext();
    const page = await context.newPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(pathToFileURL(file).href);
    await page.locator('article').nth(1).waitFor();
    expect(await page.locator('img, script, a').count()).toBe(0);
    expect(await page.title()).not.toBe('owned');
    expect(asked).toEqual([pathToFileURL(file).href]);
    await context.close();
  });
});

const elsewhere: string[] = [];

/** The page of a session; what it asks for anywhere else is taken down. */
async function watched(
  sessionId: string,
  viewport = { width: 1280, height: 800 },
  colorScheme: 'light' | 'dark' = 'light',
): Promise<Page> {
  elsewhere.length = 0;
  const page = await pages.session(sessionId, { viewport, colorScheme });
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${world.url}/`) && !/^(?:data|blob):/.test(url)) elsewhere.push(url);
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Refused/.test(message.text())) elsewhere.push(message.text());
  });
  return page;
}

/** No script of others has run, no element of theirs is there, and nothing was asked for. */
async function unharmed(page: Page): Promise<void> {
  expect({
    title: await page.title(),
    elements: await page
      .locator('main img, main script, main iframe, nav img, main a[href^="javascript"]')
      .count(),
    elsewhere,
  }).toEqual({ title: 'Groundcrew', elements: 0, elsewhere: [] });
}

/** Buttons and fields that stand beyond the edge of the screen, where nothing scrolls to them. */
function cutOff(page: Page): Promise<readonly string[]> {
  return page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        'main button, main input, main select, main textarea, main h1',
      ),
    ]
      .filter((each) => {
        const { left, right, width } = each.getBoundingClientRect();
        let around: HTMLElement | null = each;
        while (around && !/auto|scroll/.test(getComputedStyle(around).overflowX))
          around = around.parentElement;
        return width > 0 && !around && (left < 0 || right > innerWidth + 1);
      })
      .map(({ textContent, outerHTML }) => (textContent || outerHTML).slice(0, 80)),
  );
}
