import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, RuntimeConnection, type Session } from '@groundcrew/sdk';
import { callTools, hold, refuse, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import type { TestScreen } from './screen.js';
import { terminalWorld } from './world.js';

const world = terminalWorld();
const idle = 'Ask, or / for commands';

/** Says a command, and waits for words that answer it. */
async function says(screen: TestScreen, command: string, words: string): Promise<void> {
  screen.mark();
  screen.enter(command);
  await screen.sees(words);
  await screen.sees(idle);
}

/** An app beside the screen, attached to the same session. */
async function besides(work: (client: Client) => Promise<void>): Promise<void> {
  const connection = RuntimeConnection.forUri(String(await world.port()), { connectionToken: 'open sesame' });
  await using client = new Client({ connection });
  await work(client);
}

/** What is written where the next prompt is. */
function promptOf(screen: TestScreen): string | undefined {
  return screen.rows.findLast((row) => row.startsWith('❯ '));
}

/** The session that a screen shows. */
function sessionOf(screen: TestScreen): string {
  return /session ([0-9a-f-]{36})/.exec(screen.lines.join('\n'))?.[1] ?? '';
}

test('every command does what it says, and what it cannot do it says too', async () => {
  const screen = await world.attach([say('First answer.'), say('Second answer.')]);
  await says(screen, 'One', 'First answer.');
  await says(screen, '/help', '/rewind [NUMBER]');
  await says(screen, '/model scripted', 'The model is scripted from now on');
  await says(screen, '/agent default', 'The default agent leads');
  await says(screen, '/mcp', 'There is no MCP server');
  await says(screen, '/mcp enable', '/mcp enable needs the name of a server');
  await says(screen, '/skills', 'skill');
  await says(screen, '/plan on', 'plan');
  await says(screen, '/plan off', 'interactive');
  await says(screen, '/permissions reset', 'is asked again');
  await says(screen, '/permissions wild', 'There is no mode wild');
  await says(screen, '/todos', 'There is no todo');
  await says(screen, 'Two', 'Second answer.');
  await says(screen, '/sessions', 'One');
  await says(screen, '/export out.md', 'The conversation is in');
  expect(readFileSync(join(world.directory, 'out.md'), 'utf8')).toContain('Second answer.');
  await says(screen, '/nothing', 'There is no /nothing');

  // A fork goes its own way; what is taken back is written anew.
  const first = sessionOf(screen);
  await says(screen, '/fork', 'this is session');
  screen.mark();
  screen.enter('/rewind 1');
  await screen.sees('as it was before that prompt');
  await screen.until('the prompt again', () => promptOf(screen) === '❯ Two');
  world.model.play(say('Another second answer.'));
  screen.type('\r');
  await screen.sees('Another second answer.');
  await screen.sees(idle);
  await says(screen, `/resume ${first}`, `this is session ${first} now`);
  await says(screen, '/fork 9', 'It takes a number from 1 to 2');
  const asked = world.model.requests.at(-1)?.body.messages.map(({ content }) => content);
  expect(JSON.stringify(asked)).toContain('First answer.');
  expect(JSON.stringify(asked)).not.toContain('"Second answer.');
});

test('a command that makes no sense says why, and nothing happens', async () => {
  const screen = await world.attach([say('First answer.')]);
  await says(screen, 'One', 'First answer.');
  writeFileSync(join(world.directory, 'there.md'), 'kept');
  for (const [wrong, why] of [
    ['/mcp wild', '✖ /mcp takes enable, disable or restart'],
    ['/mcp enable nothing', '✖'],
    ['/skills wild', '✖ /skills takes enable or disable'],
    ['/skills enable nothing', '✖ There is no skill nothing'],
    ['/plan wild', '✖ /plan takes on, off, or nothing'],
    ['/agent nobody', '✖'],
    ['/export there.md', '✖ It could not be written'],
    ['/export /no/such/place.md', '✖ It could not be written'],
    ['/fork x', '✖ It takes a number from 1 to 1'],
    ['/rewind 0', '✖ It takes a number from 1 to 1'],
    ['/resume nothing-like-it', '✖'],
  ] as const)
    await says(screen, wrong, why);
  expect(readFileSync(join(world.directory, 'there.md'), 'utf8')).toBe('kept');
  // Any id may be that of a model; a long one leaves the rest of the status in sight.
  await says(screen, `/model ${'z'.repeat(300)}`, 'from now on');
  await screen.until('a short name', () => screen.rows.some((row) => /^z+… · \S+ \d+ %/.test(row)));
});

test('while a turn runs, what has to wait for its end says so; a summary that fails says why', async () => {
  const held = hold(say('Second answer.'));
  const screen = await world.attach([say('First answer.')]);
  await says(screen, 'One', 'First answer.');
  world.model.play(refuse(400, 'no summary today'));
  await says(screen, '/compact', 'The conversation stays as it is');
  await screen.sees('! the conversation was not summarised: ');
  expect(screen.text).not.toContain('nothing to gain');
  world.model.play(held.reply);
  const asked = world.model.requests.length;
  screen.enter('Two');
  await world.model.asked(asked + 1);
  for (const command of ['/rewind 1', '/fork 1']) {
    screen.mark();
    screen.enter(command);
    await screen.sees('✖ The session is at work: Ctrl-C stops it');
  }
  held.release();
  await screen.sees('Second answer.');
  await screen.sees(idle);
});

test('older messages become a summary, which the model reads in their place', async () => {
  const long = 'a long answer '.repeat(1_000);
  const screen = await world.attach([
    say(long),
    say('Second.'),
    say('Third.'),
    say('What the summary says.'),
  ]);
  for (const [prompt, answer] of [
    ['One', 'a long answer'],
    ['Two', 'Second.'],
    ['Three', 'Third.'],
  ] as const)
    await says(screen, prompt, answer);
  await says(screen, '/compact what matters', 'messages are a summary now');
  expect(JSON.stringify(world.model.requests.at(-1)?.body.messages)).toContain('what matters');
  world.model.play(say('Fourth.'));
  await says(screen, 'Four', 'Fourth.');
  const asked = JSON.stringify(world.model.requests.at(-1)?.body.messages);
  expect(asked).toContain('What the summary says.');
  expect(asked).not.toContain(long);
});

test('what tools wrote is taken back with the prompt that made them', async () => {
  const path = join(world.directory, 'taken.txt');
  writeFileSync(path, 'before\n');
  const screen = await world.attach([
    callTools({ id: 'w1', name: 'edit', arguments: { path, old_str: 'before', new_str: 'after' } }),
    say('Changed it.'),
  ]);
  screen.enter('Change it');
  await screen.sees('Yes, once');
  screen.type('y');
  await screen.sees('Changed it.');
  await screen.sees(idle);
  expect(readFileSync(path, 'utf8')).toBe('after\n');
  screen.enter('/rewind 1');
  await screen.sees('What is taken back?');
  screen.type('1');
  await screen.sees('and 1 files');
  expect(readFileSync(path, 'utf8')).toBe('before\n');
});

test('choices, plans, forms and spent limits are answered on the screen', async () => {
  const screen = await world.attach([
    callTools({
      id: 'q1',
      name: 'ask_user',
      arguments: { question: 'Which hue?', choices: ['red', 'blue'] },
    }),
    say('It is blue.'),
  ]);
  screen.enter('Ask me');
  await screen.sees('Which hue?');
  screen.type('2');
  await screen.sees('It is blue.');
  await says(screen, '/plan on', 'plan');
  world.model.play(
    callTools({ id: 'p1', name: 'exit_plan_mode', arguments: { summary: 'Dig it', plan: '1. Dig' } }),
    say('Planned.'),
  );
  screen.enter('Plan it');
  await screen.sees('The plan: Dig it');
  screen.type('c');
  await screen.sees('What should change?');
  screen.enter('Deeper');
  await screen.sees('Planned.');
  await screen.sees(idle);
  expect(JSON.stringify(world.model.requests.at(-1)?.body.messages)).toContain('Deeper');
  await says(screen, '/plan off', 'interactive');
  await besides(async (client) => {
    const session = await client.resumeSession(sessionOf(screen), { disableResume: true });
    const filled = session.call('session.ui.elicitation', form);
    await screen.sees('Who are you?');
    screen.enter('Ada');
    await screen.sees('Grown up');
    screen.type('y');
    await screen.sees('Size');
    screen.type('2');
    expect(await filled).toEqual({ action: 'accept', content: { name: 'Ada', adult: true, size: 'L' } });
    await agree(session, screen);
    await spendMore(session, screen);
  });
});

const form = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object' as const,
    properties: {
      name: { type: 'string', title: 'Name' },
      adult: { type: 'boolean', title: 'Grown up' },
      size: { type: 'string', title: 'Size', enum: ['S', 'L'] },
    },
    required: ['name', 'adult', 'size'],
  },
};

/** A form without fields asks for a yes; nothing of its message is written over. */
async function agree(session: Session, screen: TestScreen): Promise<void> {
  const message = 'Delete all of it?\rShow the time?';
  const requestedSchema = { type: 'object' as const, properties: {} };
  for (const [key, answer] of [
    ['n', { action: 'decline' }],
    ['y', { action: 'accept', content: {} }],
  ] as const) {
    screen.mark();
    const answered = session.call('session.ui.elicitation', { message, requestedSchema });
    await screen.sees('Delete all of it?');
    await screen.sees('y  Yes');
    screen.type(key);
    expect(await answered).toEqual(answer);
    await screen.misses('y  Yes');
  }
}

async function spendMore(session: Session, screen: TestScreen): Promise<void> {
  await session.call('session.options.update', { sessionLimits: { maxCalls: 1 } });
  world.model.play(say('One more.'));
  screen.enter('Go on');
  await screen.sees('The session has reached a limit');
  screen.type('a');
  await screen.sees('How many model calls more?');
  screen.enter('5');
  await screen.sees('One more.');
}

test('the plain chat answers a spent limit too', async () => {
  await besides(async (client) => {
    await using session = await client.createSession({ sessionLimits: { maxCalls: 1 } });
    world.model.play(say('First.'), say('Second.'));
    await session.sendAndWait('One');
    const port = String(await world.port());
    const screen = world.start({ args: ['--plain', '--connect', port, '--resume', session.sessionId] });
    await screen.sees('> ');
    screen.enter('Two');
    await screen.sees('how much more');
    screen.enter('u');
    await screen.sees('Second.');
    screen.enter('/quit');
    expect(await screen.ended).toBe(0);
  });
});

test('a picture goes along by its path, and themes colour for their background', async () => {
  const path = join(world.directory, 'dot.png');
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  writeFileSync(path, Buffer.from(pixel, 'base64'));
  expect(existsSync(path)).toBe(true);
  const raws: string[] = [];
  for (const theme of ['light', 'dark']) {
    const screen = await world.attach([say('A **dot**.')], { args: ['--theme', theme] });
    screen.type('Look at ');
    // As a terminal enters the path of a file that is dropped on it, or that was copied.
    screen.paste(path);
    screen.type('\r');
    await screen.sees('A dot.');
    expect(JSON.stringify(world.model.requests.at(-1)?.body.messages)).toContain(pixel);
    raws.push(screen.raw);
  }
  const colours = (raw: string) => [...new Set(raw.match(/\[(?:38|3\d|9\d)[;\d]*m/g))].sort().join();
  expect(colours(raws[0] ?? '')).not.toBe(colours(raws[1] ?? ''));
});
