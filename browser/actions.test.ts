import { readFileSync } from 'node:fs';
import { approveAll, type Session } from '@groundcrew/sdk';
import { callTools, hold, say } from '@groundcrew/testkit';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../e2e/mcp-world.js';
import { token, WebWorld } from '../e2e/web-world.js';
import { executablePath, faultsOf, never, Pages, payload, smallPhone } from './pages.js';

const world = new WebWorld([]);
const pages = new Pages(world, token);

/** A client that leaves every question open for others to answer. */
const silent = {
  onPermissionRequest: never,
  onUserInputRequest: never,
  onExitPlanModeRequest: never,
  onElicitationRequest: never,
  onSessionLimitsRequest: never,
  onAutoModeSwitchRequest: never,
};

describe.skipIf(!executablePath)('what users do in the page', { timeout: 60_000 }, () => {
  beforeAll(async () => {
    await world.start();
    // Another name for this machine, as a page has whose own name was made to lead here.
    await pages.start(['--host-resolver-rules=MAP rebound.example 127.0.0.1']);
  }, 60_000);
  afterEach(() => pages.closeAll());
  afterAll(async () => {
    await pages.stop();
    await world.stop();
  });

  test('every kind of question is there for who comes later, and is answered in place on a phone', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'asks-all', ...silent });
    let isDark = false;
    const answered = async (ask: Promise<unknown>, answer: (page: Page) => Promise<void>) => {
      await waiting(session);
      // Every other one in the dark, and all on the narrowest phone.
      isDark = !isDark;
      const colorScheme = isDark ? ('dark' as const) : ('light' as const);
      const page = await pages.session('asks-all', { viewport: smallPhone, hasTouch: true, colorScheme });
      await page.getByRole('region', { name: 'Open questions' }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await answer(page);
      const outcome = await ask;
      await page.getByRole('region', { name: 'Open questions' }).waitFor({ state: 'detached' });
      expect([await page.title(), await page.locator('main img, main script').count()]).toEqual([
        'Groundcrew',
        0,
      ]);
      return outcome;
    };

    world.model.play(
      callTools({
        id: 'q1',
        name: 'ask_user',
        arguments: { question: `Which? ${payload}`, choices: ['red', payload] },
      }),
      say('Chosen.'),
    );
    const choice = session.sendAndWait('Ask me');
    await answered(choice, (page) => page.getByRole('button', { name: payload }).tap());
    expect(lastResult()).toContain('onerror');

    world.model.play(
      callTools({ id: 'q2', name: 'ask_user', arguments: { question: 'Why?' } }),
      say('Heard.'),
    );
    const words = session.sendAndWait('Ask me again');
    await answered(words, async (page) => {
      await page.getByLabel('Your answer').fill('Because of the weather');
      await page.getByRole('button', { name: 'Answer' }).click();
    });
    expect(lastResult()).toContain('Because of the weather');

    const filled = session.call('session.ui.elicitation', {
      message: `Who? ${payload}`,
      requestedSchema: form,
    });
    const form1 = await answered(filled, async (page) => {
      await page.getByRole('button', { name: 'Send' }).first().click();
      // What is needed is not there yet: the browser says so, and nothing is sent.
      await page.getByLabel(`Name ${payload}`).fill('Ada');
      await page.getByLabel('Age').fill('36');
      await page.getByLabel('Grown up').check();
      await page.getByLabel('Size').selectOption('L');
      await page.getByLabel('Colours').selectOption(['r', 'b']);
      await page
        .getByRole('region', { name: 'Open questions' })
        .getByRole('button', { name: 'Send' })
        .click();
    });
    expect(form1).toEqual({
      action: 'accept',
      content: { name: 'Ada', age: 36, adult: true, size: 'L', colours: ['r', 'b'] },
    });
    const declined = session.call('session.ui.elicitation', { message: 'Again?', requestedSchema: form });
    expect(
      await answered(declined, (page) => page.getByRole('button', { name: 'Decline' }).click()),
    ).toMatchObject({ action: 'decline' });

    await session.call('session.mode.set', { mode: 'plan' });
    const plan = { summary: `Dig ${payload}`, plan: `1. Dig ${payload}` };
    world.model.play(callTools({ id: 'p1', name: 'exit_plan_mode', arguments: plan }), say('Not yet, then.'));
    const planned = session.sendAndWait('Plan it');
    await answered(planned, async (page) => {
      await page.getByLabel('What to change').fill('Deeper');
      await page.getByRole('button', { name: 'Not yet' }).click();
    });
    expect(lastResult()).toContain('Deeper');
    world.model.play(callTools({ id: 'p2', name: 'exit_plan_mode', arguments: plan }), say('Digging.'));
    const approved = session.sendAndWait('Plan it again');
    await answered(approved, (page) => page.getByRole('button', { name: 'ask before each step' }).tap());
    expect(await session.call('session.mode.get')).toBe('interactive');

    await session.call('session.options.update', { sessionLimits: { maxCalls: 1 } });
    world.model.play(say('One more.'));
    const limited = session.sendAndWait('Go on');
    await answered(limited, async (page) => {
      await page.getByText('8 of 1 model calls').waitFor();
      await page.getByLabel('How much more').fill('50');
      await page.getByRole('button', { name: 'Add' }).click();
    });
  });

  test('a denied command is denied with the reason, and nothing hides in what is asked', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'denies', ...silent });
    const command = 'echo \u202Egnp.exe \u200Bx\u{E0041} \u001B[2J';
    world.model.play(
      callTools({ id: 'd1', name: 'bash', arguments: { command, description: payload } }),
      say('Then not.'),
    );
    const turn = session.sendAndWait('Run it');
    await waiting(session);
    const page = await pages.session('denies');
    const asked = page.getByRole('region', { name: 'Open questions' });
    await asked.waitFor();
    expect(await asked.locator('pre').textContent()).toContain(
      'echo \\u202egnp.exe \\u200bx\\u{e0041} \\u001b[2J',
    );
    await page.getByLabel('Why not').fill('Too loud');
    await page.getByRole('button', { name: 'No', exact: true }).click();
    expect((await turn)?.data.content).toBe('Then not.');
    expect(lastResult()).toContain('Too loud');
  });

  test('a permission is given for the session, the project or a host, in the words of the terminal', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'approves', ...silent });
    const page = await pages.session('approves', { viewport: smallPhone, colorScheme: 'dark' });
    const asked = page.getByRole('region', { name: 'Open questions' });
    const labels = () => asked.getByRole('button').allTextContents();
    const call = (name: string, given: object) => callTools({ id: `${name}1`, name, arguments: given });
    const run = async (name: string, given: object, label: string) => {
      world.model.play(call(name, given), say('Done.'));
      const turn = session.sendAndWait('Do it');
      await asked.waitFor();
      const offered = await labels();
      expect(await faultsOf(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      await asked.getByRole('button', { name: label, exact: true }).click();
      await turn;
      await asked.waitFor({ state: 'detached' });
      return offered;
    };
    const touch = { command: 'touch one', description: 'Touch' };
    const session1 = 'Yes, in this session (touch)';
    const always = 'Yes, always in this project (touch)';
    expect(await run('bash', touch, session1)).toEqual(['Yes, once', session1, always, 'No']);
    // What was approved for the session is not asked about again.
    world.model.play(call('bash', { ...touch, command: 'touch two' }), say('Again.'));
    expect((await session.sendAndWait('Once more'))?.data.content).toBe('Again.');

    const host = await run('web_fetch', { url: 'http://127.0.0.1:9/x' }, 'Yes, always (127.0.0.1:9)');
    expect(host).toEqual([
      'Yes, once',
      'Yes, in this session (127.0.0.1:9)',
      'Yes, always (127.0.0.1:9)',
      'No',
    ]);

    const file = { path: 'made.txt', file_text: 'one\n' };
    const writing = 'Yes, always in this project (writing files)';
    await run('create', file, writing);
    const results = (await session.getEvents()).flatMap((event) =>
      event.type === 'permission.completed' ? [event.data.result] : [],
    );
    const { workingDirectory } = await session.call('session.metadata.snapshot');
    const { locationKey } = await session.call('session.permissions.locations.resolve', { workingDirectory });
    expect(results).toMatchObject([
      { kind: 'approved-for-session', approval: { kind: 'commands', commandIdentifiers: ['touch'] } },
      { kind: 'approved' },
      { kind: 'approved-for-location', approval: { kind: 'write' }, locationKey },
    ]);
    // Another session of the place goes by what was said for good.
    const other = await client.createSession({ sessionId: 'approves-too', workingDirectory, ...silent });
    world.model.play(call('create', { ...file, path: 'made-too.txt' }), say('Unasked.'));
    expect((await other.sendAndWait('Write'))?.data.content).toBe('Unasked.');
  });

  test('whether another model may answer is asked in the page, in the words of the terminal', async () => {
    const limited = new WebWorld([], undefined, {}, (baseUrl) => ({
      COPILOT_API_URL: baseUrl,
      GH_TOKEN: 'token-1',
    }));
    await limited.start();
    const others = new Pages(limited, token);
    await others.start();
    try {
      await using client = limited.client();
      const session = await client.createSession({ sessionId: 'limited', ...silent });
      limited.model.play(spent, say('The other one.'));
      const turn = session.sendAndWait('Go on');
      await waiting(session);
      const page = await others.session('limited', { viewport: smallPhone });
      const asked = page.getByRole('region', { name: 'Open questions' });
      await asked.getByText('The model is rate limited for 90000 seconds. Go on with another one?').waitFor();
      expect(await asked.getByRole('button').allTextContents()).toEqual(['Yes', 'Yes, always', 'No']);
      expect(await faultsOf(page)).toEqual([]);
      await asked.getByRole('button', { name: 'Yes', exact: true }).click();
      expect((await turn)?.data.content).toBe('The other one.');
      await asked.waitFor({ state: 'detached' });
    } finally {
      await others.stop();
      await limited.stop();
    }
  });

  test('Enter that ends the composition of an input method sends nothing; the next one sends what was composed', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'composes', onPermissionRequest: approveAll });
    const page = await pages.session('composes');
    const prompt = page.getByLabel('Prompt');
    await prompt.focus();
    const input = await page.context().newCDPSession(page);
    await input.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 });
    await page.keyboard.press('Enter');
    expect((await session.getEvents()).filter(({ type }) => type === 'user.message')).toEqual([]);
    expect(await prompt.inputValue()).toContain('にほん');
    await prompt.fill('');
    await input.send('Input.imeSetComposition', { text: 'にほん', selectionStart: 3, selectionEnd: 3 });
    await input.send('Input.insertText', { text: '日本' });
    world.model.play(say('こんにちは'));
    await page.keyboard.press('Enter');
    await page.getByText('こんにちは').first().waitFor();
    expect(JSON.stringify(world.model.requests.at(-1)?.body.messages.at(-1))).toContain('日本');
  });

  test('a turn is steered and aborted from the page, with the keyboard alone', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'steered', onPermissionRequest: approveAll });
    const first = hold(
      callTools({ id: 's1', name: 'bash', arguments: { command: 'true', description: 'x' } }),
    );
    const second = hold(say('never'));
    world.model.play(first.reply, second.reply);
    const turn = session.sendAndWait('Begin');
    const page = await pages.session('steered');
    await page.getByLabel('Prompt').fill('Mind the gap');
    await page.getByRole('button', { name: 'Steer' }).and(page.locator(':enabled')).waitFor();
    await page.getByLabel('Prompt').press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    first.release();
    await until(() => JSON.stringify(world.model.requests.at(-1)?.body).includes('Mind the gap'));
    await page.getByRole('button', { name: 'Abort' }).focus();
    await page.keyboard.press('Enter');
    await turn.catch(() => undefined);
    second.release();
    const types = (await session.getEvents()).map(({ type }) => type);
    expect(types).toContain('abort');
    await page.getByRole('tab', { name: 'Conversation' }).focus();
    for (const tab of ['Timeline', 'Events']) {
      await page.keyboard.press('ArrowRight');
      expect(await page.getByRole('tab', { name: tab }).getAttribute('aria-selected')).toBe('true');
    }
  });

  test('an export is the log, line by line, without what was taken back', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'exported', onPermissionRequest: approveAll });
    world.model.play(say('First.'), say('Second.'));
    await session.sendAndWait('One');
    await session.sendAndWait('Two');
    const page = await pages.session('exported');
    await page.getByText('Second.').first().waitFor();
    const prompts = (await session.getEvents()).filter(({ type }) => type === 'user.message');
    await session.call('session.history.truncate', { eventId: prompts[1]?.id ?? '' });
    await page.getByText('Second.').first().waitFor({ state: 'detached' });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export' }).click(),
    ]);
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      JSON.parse(JSON.stringify(await session.getEvents())),
    );
    expect(download.suggestedFilename()).toBe('exported.jsonl');
  });

  test('of a stored session, tokens, money, requests of sub-agents and the window are read from the store', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'kept', onPermissionRequest: approveAll });
    world.model.play(
      callTools({
        id: 'a1',
        name: 'task',
        arguments: {
          agent_type: 'explore',
          name: 'scout',
          description: 'Look',
          prompt: 'Look around',
          mode: 'sync',
        },
      }),
      say('I looked around.'),
      say('The scout has looked.'),
    );
    await session.sendAndWait('Send a scout');
    await client.call('sessions.close', { sessionId: 'kept' });
    const page = await pages.session('kept');
    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.getByText('3 model calls').waitFor();
    await page.locator('.plot canvas').waitFor();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await page.locator('.waterfall .span').nth(3).waitFor();
    expect(await page.locator('.bars').first().textContent()).toContain('30 tokens');
    await page.getByRole('tab', { name: 'Context' }).click();
    await page.getByText('of the last request that is stored').waitFor();
    await page.getByRole('tab', { name: 'Requests' }).click();
    const calls = await page.getByLabel('Model call').locator('option').allTextContents();
    expect(calls.map((text) => text.replace(/ · \d\d:\d\d:\d\d/, ''))).toEqual([
      '1',
      expect.stringMatching(/^2 · \S+/),
      '3',
    ]);
    await page.getByLabel('Model call').selectOption('2');
    await page.getByText('"model": "scripted"').first().waitFor();
    await page.getByRole('list', { name: 'Request' }).press('End');
    await page
      .getByText(/Look around/)
      .first()
      .waitFor();
    await page.getByLabel('Compare with').selectOption('3');
    await page.getByText(/The first [\d,]+ of [\d,]+ characters are the same/).waitFor();
  });

  test('under another name of this machine there is no page, and no token is taken', async () => {
    const { port } = new URL(world.url);
    const page = await pages.open({ path: '/', bypassCSP: true });
    const answer = await page.goto(`http://rebound.example:${port}/#${token}`);
    expect(answer?.status()).toBe(403);
    const entered = await page.evaluate(async (shown) => {
      const headers = { authorization: `Bearer ${shown}` };
      return (await fetch('/enter', { method: 'POST', headers })).status;
    }, token);
    expect(entered).toBe(403);
  });

  test('an address that is none is no session, and the page stands', async () => {
    const page = await pages.open();
    await page.goto(`${world.url}/#/%E0%A4%A`);
    await page.getByText('unreachable').waitFor();
    await page.getByRole('link', { name: 'Groundcrew' }).click();
    await page.getByText('Choose a session.').waitFor();
  });
});

/** Resolves when the session waits for an answer of users. */
async function waiting(session: Session): Promise<void> {
  await until(async () => (await session.call('session.questions.pending')).items.length > 0);
}

/** How much wider the page is than the screen. */
function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/** The result that the model has read last. */
function lastResult(): string {
  const messages = world.model.requests.at(-1)?.body.messages ?? [];
  return JSON.stringify(messages.findLast(({ role }) => role === 'tool'));
}

/** What a model service says when it will answer no more this week. */
const spent = {
  type: 'status',
  status: 429,
  body: JSON.stringify({ error: { message: 'weekly', code: 'user_weekly_rate_limited' } }),
  headers: { 'retry-after': '90000' },
} as const;

const form = {
  type: 'object' as const,
  properties: {
    name: { type: 'string', title: `Name ${payload}`, minLength: 2 },
    age: { type: 'integer', title: 'Age', minimum: 0 },
    adult: { type: 'boolean', title: 'Grown up' },
    size: { type: 'string', title: 'Size', enum: ['S', 'L'], enumNames: ['small', 'large'] },
    colours: {
      type: 'array',
      title: 'Colours',
      items: {
        anyOf: [
          { const: 'r', title: 'red' },
          { const: 'g', title: 'green' },
          { const: 'b', title: 'blue' },
        ],
      },
    },
    note: { type: 'string', title: 'Note' },
  },
  required: ['name', 'age', 'adult', 'size'],
};
