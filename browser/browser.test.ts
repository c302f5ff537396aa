import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { approveAll } from '@groundcrew/sdk';
import { callTools, say } from '@groundcrew/testkit';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { token, WebWorld } from '../e2e/web-world.js';
import { executablePath, faultsOf, file, never, Pages, payload, phone, smallPhone } from './pages.js';

if (!executablePath) console.log('Tests in a browser are skipped: there is no chromium on this machine');

const world = new WebWorld([]);
const pages = new Pages(world, token);

describe.skipIf(!executablePath)('the page in a browser', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    await world.start();
    await pages.start();
    await makeSessions();
  }, 60_000);
  afterEach(() => pages.closeAll());
  afterAll(async () => {
    await pages.stop();
    await world.stop();
  });

  test('is at most 80 KB when it is compressed', () => {
    const whole = ['inspector.js', 'inspector.css'].map((name) =>
      readFileSync(file(`packages/cli/dist/${name}`)),
    );
    expect(gzipSync(Buffer.concat(whole), { level: 9 }).length).toBeLessThanOrEqual(80 * 1024);
  });

  test('takes the token out of the address, is known by its cookie from then on, and shows nothing without', async () => {
    const page = await pages.open();
    expect(new URL(page.url()).hash).toBe('');
    await page.reload();
    await page.getByRole('link', { name: /Hello session/ }).waitFor();
    const stranger = await pages.open({ path: '/' });
    await stranger.getByText('This page needs the token').waitFor();
    const wrong = await pages.open({ path: '/#wrong-token' });
    await wrong.getByText('This page needs the token').waitFor();
  });

  test('a token that is added to the address of a page that is open lets it in, and stays in no address', async () => {
    const page = await pages.open({ path: '/' });
    await page.getByText('This page needs the token').waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.evaluate((shown) => {
      location.hash = shown;
    }, token);
    await page.getByRole('link', { name: /Hello session/ }).waitFor();
    expect([new URL(page.url()).hash, asked.filter((url) => url.includes(token))]).toEqual(['', []]);
    // One that is in already may enter again; what only looks like an address of a session is none.
    for (const shown of [token, `token=${token}`]) {
      await page.evaluate((given) => {
        location.hash = given;
      }, shown);
      await page.waitForURL(`${world.url}/`);
      await page.getByRole('link', { name: /Hello session/ }).waitFor();
    }
    expect(asked.filter((url) => url.includes(`session=${token}`))).toEqual([]);
    const wrong = await pages.open({ path: '/#%2Fwrong-token' });
    await wrong.getByText('This page needs the token').waitFor();
    expect(new URL(wrong.url()).hash).toBe('');
  });

  test('a page whose cookie is worth nothing any more says that it needs the token', async () => {
    const page = await pages.session('first');
    await page.getByText('Done <img').waitFor();
    await page.context().clearCookies();
    await world.process.signal('SIGKILL');
    await world.startServer();
    await page.getByText('This page needs the token').waitFor({ timeout: 30_000 });
  });

  test('a page whose server was killed goes on by itself, and misses nothing', async () => {
    await using client = world.client({ reconnectTimeout: 0 });
    const session = await client.createSession({ sessionId: 'crashed', onPermissionRequest: approveAll });
    world.model.play(say('Said before the crash'));
    await session.sendAndWait('Say it');
    const page = await pages.session('crashed');
    await page.getByText('Said before the crash').waitFor();
    await world.process.signal('SIGKILL');
    await page.getByText('connection lost, trying again').waitFor();
    await world.startServer();
    await page.getByText('connection lost, trying again').waitFor({ state: 'detached', timeout: 30_000 });
    world.model.play(say('Said after the crash'));
    await page.getByLabel('Prompt').fill('Are you back?');
    await page.keyboard.press('Enter');
    await page.getByText('Said after the crash').first().waitFor();
    expect(await page.getByText('Said before the crash').count()).toBe(1);
  });

  test('shows what models, tools and users wrote as text: nothing of it runs, in any view', async () => {
    const page = await pages.session('first');
    await page.getByText('Done <img').waitFor();
    for (const tab of ['Conversation', 'Timeline', 'Events', 'Requests', 'Context', 'Usage']) {
      await page.getByRole('tab', { name: tab }).click();
      for (const closed of await page.locator('details:not([open]) summary').all()) await closed.click();
      expect(await page.locator('main img, main script, nav img').count()).toBe(0);
      expect(await page.title()).toBe('Groundcrew');
    }
  });

  test('the exact request of a call is shown with its answer, and two requests are compared', async () => {
    const page = await pages.session('first');
    await page.getByRole('tab', { name: 'Requests' }).click();
    await page.getByText('"model": "scripted"').first().waitFor();
    await page.getByLabel('Compare with').selectOption('1');
    await page.getByText(/The first [\d,]+ of [\d,]+ characters are the same/).waitFor();
    await page.getByText(/^[1-9]\d* lines added$/).waitFor();
    await page.locator('.line.added').first().waitFor();
  });

  test('events are found by a word and by their type, and a session is forked before one', async () => {
    const page = await pages.session('first');
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByLabel('Type of event').selectOption('user.message');
    await page.getByText(/^2 of \d+$/).waitFor();
    await page.getByLabel('Search events').fill('Make it');
    await page.getByText(/^1 of \d+$/).waitFor();
    await page.getByRole('button', { name: /user\.message/ }).click();
    await page.getByRole('button', { name: 'Fork before this event' }).click();
    await page.waitForURL(/#\/(?!first)/);
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await page.getByText('Hello <img').first().waitFor();
    expect(await page.getByText('Make it').count()).toBe(0);
  });

  test('a permission that waits is approved in place, on a phone', async () => {
    await using client = world.client();
    const session = await client.createSession({
      sessionId: 'asks',
      onPermissionRequest: never,
      onUserInputRequest: never,
    });
    world.model.play(
      callTools({
        id: 'c2',
        name: 'bash',
        arguments: { command: 'echo approved > made.txt', description: 'make a file' },
      }),
      say('The file is made'),
      callTools({
        id: 'c3',
        name: 'ask_user',
        arguments: { question: `Which? ${payload}`, choices: ['red', 'blue'] },
      }),
      say('It is blue'),
    );
    const done = session.sendAndWait('Make the file');
    const page = await pages.session('asks', { viewport: phone });
    await page.getByText('echo approved > made.txt').first().waitFor();
    await page.getByRole('button', { name: 'Yes, once' }).click();
    expect((await done)?.data.content).toBe('The file is made');
    const asked = session.sendAndWait('Ask me');
    await page.getByRole('button', { name: 'blue' }).click();
    expect((await asked)?.data.content).toBe('It is blue');
    expect(await page.title()).toBe('Groundcrew');
  });

  test('a prompt is sent from the page to a session that was open nowhere', async () => {
    const page = await pages.session('first');
    world.model.play(say('Sent from the page'));
    await page.getByLabel('Prompt').fill('From the page');
    await page.keyboard.press('Enter');
    await page.getByText('Sent from the page').first().waitFor();
    await page.getByRole('tab', { name: 'Context' }).click();
    await page
      .getByText(/of .* tokens/)
      .first()
      .waitFor();
    await page.getByRole('tab', { name: 'Usage' }).click();
    await page.locator('.plot canvas').waitFor();
  });

  test.each(['light', 'dark'] as const)(
    'has no serious fault for those who use it otherwise: %s',
    async (colorScheme) => {
      const page = await pages.session('first', { colorScheme, viewport: { width: 1280, height: 800 } });
      await page.getByText('Done <img').waitFor();
      for (const [tab, content] of Object.entries(contents)) {
        await page.getByRole('tab', { name: tab }).click();
        await page.locator(content).first().waitFor();
        expect([tab, await faultsOf(page)]).toEqual([tab, []]);
      }
    },
  );

  test('fits a phone of 360 pixels in every view, and its views are reached by keys alone', async () => {
    const page = await pages.session('first', { viewport: smallPhone });
    await page.getByText('Done <img').waitFor();
    const tab = (name: string) => page.getByRole('tab', { name });
    await tab('Conversation').focus();
    for (const [name, content] of Object.entries(contents)) {
      await page.locator(content).first().waitFor();
      expect([name, await tab(name).getAttribute('aria-selected')]).toEqual([name, 'true']);
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect([name, over, await faultsOf(page)]).toEqual([name, 0, []]);
      await tab(name).press('ArrowRight');
    }
  });

  test('a page of another origin gets neither a socket nor an answer', async () => {
    const server = createServer((_request, response) => response.end('<title>evil</title>'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const page = await pages.open();
    const evil = await page.context().newPage();
    await evil.goto(`http://127.0.0.1:${port}/`);
    const outcome = await evil.evaluate(async (target) => {
      const asked = await fetch(`${target}/events?session=first`, { credentials: 'include' }).then(
        () => 'read',
        () => 'refused',
      );
      const socket = await new Promise((resolve) => {
        const opened = new WebSocket(`${target.replace('http', 'ws')}/rpc`, ['groundcrew']);
        opened.onopen = () => resolve('open');
        opened.onerror = () => resolve('refused');
      });
      const entered = await fetch(`${target}/enter`, {
        method: 'POST',
        mode: 'no-cors',
        credentials: 'include',
      }).then(
        ({ type }) => type,
        () => 'refused',
      );
      return { asked, socket, entered };
    }, world.url);
    expect(outcome).toEqual({ asked: 'refused', socket: 'refused', entered: 'refused' });
    server.close();
  });

  test('100,000 events are scrolled with frames of at most 16.7 ms at the 95th percentile', {
    // Making and reading them takes as long as it takes; what is measured is the work of a frame.
    timeout: 600_000,
  }, async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'long', onPermissionRequest: approveAll });
    world.model.play(say('begun'));
    await session.sendAndWait('Begin');
    for (let made = 0; made < 100_000; made += 2000)
      await Promise.all(
        Array.from({ length: 2000 }, (_, index) => session.log(`line ${made + index} of many`)),
      );
    const page = await pages.session('long');
    await page.getByRole('tab', { name: 'Events' }).click();
    await readTo(page, 100_000);
    const times = await frameTimes(page, () =>
      page.evaluate(async () => {
        const list = document.querySelector('.events .virtual') as HTMLElement;
        for (let step = 0; step < 300; step += 1) {
          list.scrollTop = (step * 9973) % list.scrollHeight;
          await new Promise((resolve) => requestAnimationFrame(resolve));
        }
      }),
    );
    const p95 = times[Math.floor(times.length * 0.95)] ?? Number.POSITIVE_INFINITY;
    expect(times.length).toBeGreaterThan(200);
    console.log(`100,000 events: a frame takes ${p95.toFixed(1)} ms at the 95th percentile`);
    expect(p95).toBeLessThanOrEqual(16.7);
  });

  test('the React example shows a session, and sends to it', async () => {
    const { outputFiles } = await build({
      stdin: {
        contents: `import { showChat } from './packages/sdk/examples/react/chat.tsx'; globalThis.showChat = showChat;`,
        resolveDir: file(''),
      },
      bundle: true,
      format: 'iife',
      jsx: 'automatic',
      define: { 'process.env.NODE_ENV': '"production"' },
      alias: { '@groundcrew/sdk/browser': file('packages/sdk/dist/browser/browser.js') },
      write: false,
    });
    const page = await pages.open({ path: '/known-to-nobody', bypassCSP: true });
    await page.setContent('<div id="root"></div>');
    await page.evaluate(outputFiles[0]?.text ?? '');
    await page.evaluate(
      ([url, connectionToken]) => {
        const { showChat } = globalThis as unknown as { showChat(element: unknown, options: object): void };
        showChat(document.getElementById('root'), { url, connectionToken, sessionId: 'first' });
      },
      [`${world.url.replace('http', 'ws')}/rpc`, token],
    );
    await page.getByText('Done <img').waitFor();
    world.model.play(say('A word from React'));
    await page.getByLabel('Prompt').fill('Hello from React');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('A word from React').waitFor();
  });
});

/** Waits until so many events are read, as long as more of them come. */
async function readTo(page: Page, most: number): Promise<void> {
  const count = page.locator('.events .count');
  for (let read = 0, since = Date.now(); read < most; ) {
    const [shown = '0'] = ((await count.textContent({ timeout: 60_000 })) ?? '').split(' of ');
    const now = Number(shown.replaceAll(',', ''));
    if (now > read) since = Date.now();
    if (Date.now() - since > 60_000) throw new Error(`Of ${most} events ${read} are shown, and no more come`);
    read = now;
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  }
}

/** What each view shows when it has read what it needs. */
const contents = {
  Conversation: '.item',
  Timeline: '.waterfall .span',
  Events: '.event',
  Requests: '.line',
  Context: '.legend',
  Usage: '.plot canvas',
};

async function makeSessions(): Promise<void> {
  await using client = world.client();
  const session = await client.createSession({ sessionId: 'first', onPermissionRequest: approveAll });
  await session.call('session.name.set', { name: `Hello session ${payload}` });
  world.model.play(
    say(`Hello ${payload}`),
    callTools({ id: 'c1', name: 'bash', arguments: { command: `echo '${payload}'`, description: payload } }),
    say(`Done ${payload}`),
  );
  await session.sendAndWait(`Say hello ${payload}`);
  await session.sendAndWait('Make it');
}

interface TraceEvent {
  readonly name: string;
  readonly ts: number;
  readonly dur?: number;
  /** Time of the thread itself, without what others took from it. */
  readonly tdur?: number;
  readonly tid: number;
}

/** How long the thread of the page worked for each frame, from a trace of the browser, the shortest first. */
async function frameTimes(page: Page, work: () => Promise<unknown>): Promise<readonly number[]> {
  const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'];
  await pages.browser.startTracing(page, { categories });
  await work();
  const trace = JSON.parse((await pages.browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const begins = trace.traceEvents.filter(({ name }) => name === 'FireAnimationFrame');
  const main = begins[0]?.tid;
  const starts = begins.map(({ ts }) => ts).sort((one, two) => one - two);
  const tasks = trace.traceEvents.filter(({ name, tid }) => tid === main && /RunTask$/.test(name));
  const times = starts.slice(0, -1).map((start, index) => {
    const end = starts[index + 1] ?? start;
    const own = tasks.filter(({ ts }) => ts >= start - 1000 && ts < end - 1000);
    return own.reduce((sum, { dur = 0, tdur = dur }) => sum + tdur, 0) / 1000;
  });
  return times.sort((one, two) => one - two);
}
