import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { callTools, hold, say, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { program, type TestScreen } from './screen.js';
import { terminalWorld } from './world.js';

const world = terminalWorld();

/** What was said, line by line; each of it once. */
function spoken(screen: TestScreen): readonly string[] {
  return screen.lines.filter((text) => /^(?:❯ |First|Second|Third|The )/.test(text));
}

const hasChildren = existsSync(children(process.pid));

test.skipIf(!hasChildren)('a runtime of its own that is killed comes back, and nothing is lost', async () => {
  const held = hold(streamChunks('Second part one.\n\n', 'Second part two.'));
  world.model.play(say('First answer.'), held.reply);
  const screen = world.start();
  await screen.sees('/help for help');
  screen.enter('One');
  await screen.sees('First answer.');
  screen.enter('Two');
  const before = world.model.requests.length;
  await world.model.asked(Math.max(2, before));
  world.model.play(streamChunks('Second part one.\n\n', 'Second part two.'), say('Third answer.'));
  process.kill(childOf(screen.pid), 'SIGKILL');
  await screen.sees('trying again');
  await screen.sees('connected again');
  await screen.sees('Second part two.');
  screen.enter('Three');
  await screen.sees('Third answer.');
  await screen.sees('Ask, or / for commands');
  held.release();
  expect(spoken(screen)).toEqual([
    '❯ One',
    'First answer.',
    '❯ Two',
    'Second part one.',
    'Second part two.',
    '❯ Three',
    'Third answer.',
    '❯ Ask, or / for commands',
  ]);

  // Killed while a question is open and prompts wait: it is asked again, and they get their turns.
  const call = hold(
    callTools({
      id: 'k1',
      name: 'bash',
      arguments: { command: 'echo kept >> kept.txt', description: 'Keep' },
    }),
  );
  world.model.play(call.reply);
  const asked = world.model.requests.length;
  screen.enter('Four');
  await world.model.asked(asked + 1);
  screen.enter('Five');
  screen.enter('Six');
  await screen.sees('waits: Six');
  call.release();
  await screen.sees('Yes, once');
  process.kill(childOf(screen.pid), 'SIGKILL');
  await screen.until('the runtime again', () => screen.text.split('connected again').length === 3);
  await screen.sees('waits: Six');
  await screen.sees('Yes, once');
  world.model.play(say('The fourth.'), say('The fifth.'), say('The sixth.'));
  screen.type('y');
  await screen.sees('The sixth.');
  await screen.sees('Ask, or / for commands');
  expect(spoken(screen).slice(-7)).toEqual([
    '❯ Four',
    'The fourth.',
    '❯ Five',
    'The fifth.',
    '❯ Six',
    'The sixth.',
    '❯ Ask, or / for commands',
  ]);
  expect(readFileSync(join(world.directory, 'kept.txt'), 'utf8')).toBe('kept\n');
  screen.enter('/quit');
  expect(await screen.ended).toBe(0);
});

test.skipIf(!hasChildren)(
  'a shell stops it and goes on with it, and when its window is closed nothing is left',
  async () => {
    const screen = world.start({
      shell: ['bash', '--norc', '--noprofile', '-i'],
      environment: { PS1: 'sh: ' },
    });
    await screen.sees('sh: ');
    screen.enter(`'${process.execPath}' '${program}'`);
    await screen.sees('/help for help');
    world.model.play(say('First answer.'));
    screen.enter('One');
    await screen.sees('First answer.');
    await screen.sees('Ask, or / for commands');
    screen.mark();
    screen.type('\u001a');
    await screen.sees('Stopped');
    expect(screen.raw.split('\u001b[?2004h').length).toBeLessThanOrEqual(
      screen.raw.split('\u001b[?2004l').length + 1,
    );
    screen.enter('echo in the $((40 + 2)) shell');
    await screen.sees('in the 42 shell');
    screen.enter('fg');
    await screen.sees('Ask, or / for commands');
    world.model.play(say('Second answer.'));
    screen.enter('Two');
    await screen.sees('Second answer.');
    screen.enter('/quit');
    await screen.sees('To go on: groundcrew --resume');
    screen.mark();
    screen.enter('stty -a | grep -o " icanon"; echo ended $?');
    await screen.sees(' icanon');
    screen.enter(`'${process.execPath}' '${program}' --resume last`);
    await screen.sees('Second answer.');
    await screen.sees('Ask, or / for commands');
    const own = childOf(screen.pid);
    const runtime = childOf(own);
    await screen.kill();
    for (const pid of [own, runtime])
      while (existsSync(`/proc/${pid}/exe`)) await new Promise((resolve) => setTimeout(resolve, 20));
  },
);

test('a server that is killed and started again is found, in the middle of an answer', async () => {
  const server = world.startServer();
  const port = await server.port();
  world.model.play(say('First answer.'));
  const screen = world.start({ args: ['--connect', String(port)] });
  await screen.sees('/help for help');
  screen.enter('One');
  await screen.sees('First answer.');
  const held = hold(say('never read'));
  const asked = world.model.requests.length;
  world.model.play(held.reply, streamChunks('Second part one.\n\n', 'Second part two.'));
  screen.enter('Two');
  await world.model.asked(asked + 1);
  await server.signal('SIGKILL');
  await screen.sees('trying again');
  // What is written while no runtime is there is sent when the runtime is back.
  const next = world.startServer(port);
  await next.port();
  await screen.sees('Second part two.');
  await screen.sees('Ask, or / for commands');
  expect(spoken(screen)).toEqual([
    '❯ One',
    'First answer.',
    '❯ Two',
    'Second part one.',
    'Second part two.',
    '❯ Ask, or / for commands',
  ]);
  held.release();
  await next.stop();
});

test('a screen is left by Ctrl-C although its server says nothing, from the beginning or from now on', async () => {
  const silent = createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const early = world.start({ args: ['--connect', String(port)] });
  await early.sees('Ask, or / for commands');
  early.type('\u0003\u0003');
  expect(await early.ended).toBe(130);
  silent.close();

  const server = world.startServer();
  const late = world.start({ args: ['--connect', String(await server.port())] });
  await late.sees('/help for help');
  server.signal('SIGSTOP');
  late.enter('/sessions');
  late.enter('/new');
  late.enter('Anyone?');
  late.type('\u0003\u0003');
  expect(await late.ended).toBe(130);
  server.signal('SIGCONT');
  await server.stop();
});

test('lines are enough where the terminal is none, or its user asks for them', async () => {
  world.model.play(say('By line.'), say('By line too.'));
  const plain = world.start({ args: ['--plain'] });
  await plain.sees('> ');
  plain.enter('Go');
  await plain.sees('By line.');
  const dumb = world.start({ environment: { TERM: 'dumb' } });
  await dumb.sees('> ');
  dumb.enter('Go');
  await dumb.sees('By line too.');
  for (const screen of [plain, dumb]) {
    expect(screen.raw).not.toContain('\u001b[?2026h');
    screen.enter('/quit');
    expect(await screen.ended).toBe(0);
  }
});

/** The process that a process has started. */
function childOf(pid: number): number {
  return Number(readFileSync(children(pid), 'utf8').trim().split(' ')[0]);
}

function children(pid: number): string {
  return `/proc/${pid}/task/${pid}/children`;
}
