import { type ChildProcess, spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Rule, RuleModel, RuntimeProcess, WireClient, type WireSession } from '@groundcrew/testkit';
import { Random } from '../chaos/random.js';
import type { Attack, AttackOptions } from './attack.js';

const secret = 'text-that-rules-deny';
const secretName = 'name-that-rules-deny';
const callsPerTurn = 8;

interface World {
  readonly root: string;
  readonly work: string;
  readonly outside: string;
}

interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/**
 * Lets a model call every file tool, in a session in which everything is approved and rules deny two directories, while another
 * process puts links to these in the place of a directory and takes them away again, as fast as it can. Nothing of what is denied
 * may come back, be it text or a name, and nothing in it may change.
 */
export async function attackLinks({ count, seed }: AttackOptions): Promise<Attack> {
  const world = furnish();
  const model = await RuleModel.open(callsOfPrompt);
  const runtime = new RuntimeProcess({
    flags: ['--headless', '--stdio', '--log-level', 'none'],
    home: join(world.root, 'home'),
    workingDirectory: world.work,
  });
  const flipper = startFlipper(world);
  const violations: string[] = [];
  let answered = 0;
  try {
    const client = new WireClient(await runtime.connect());
    const session = await client.create({ ...model.settings, workingDirectory: world.work });
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    const calls = callsFrom(new Random(seed), world);
    for (let done = 0; done < count; done += callsPerTurn) {
      const some = Array.from({ length: Math.min(callsPerTurn, count - done) }, (_, index) =>
        calls(done + index),
      );
      const { leaks, successes } = await turn(session, some);
      violations.push(...leaks);
      answered += successes;
    }
    violations.push(...changes(world));
  } finally {
    flipper.kill('SIGKILL');
    await runtime.stop();
    await model.close();
    rmSync(world.root, { recursive: true, force: true, maxRetries: 5 });
  }
  if (answered < count / 10)
    violations.push(`Only ${answered} of ${count} calls gave a result: that shows nothing`);
  return { tried: count, violations, measured: `${answered} calls gave a result` };
}

function furnish(): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'groundcrew-links-')));
  const world = { root, work: join(root, 'work'), outside: join(root, 'outside') };
  for (const directory of [
    join(world.work, 'sub'),
    join(world.work, 'private'),
    world.outside,
    join(root, 'home'),
  ])
    mkdirSync(directory, { recursive: true });
  for (let index = 0; index < 20; index += 1)
    writeFileSync(join(world.work, 'sub', `file-${index}.txt`), `needle ${index}\nplain text\n`);
  for (const directory of [join(world.work, 'private'), world.outside]) {
    for (let index = 0; index < 20; index += 1)
      writeFileSync(join(directory, `file-${index}.txt`), `needle ${secret}\nplain text\n`);
    writeFileSync(join(directory, `${secretName}.txt`), `needle ${secret}\n`);
  }
  const deny = [{ path: 'private' }, { path: world.outside }];
  writeFileSync(join(root, 'home', 'permissions.json'), JSON.stringify({ deny }));
  return world;
}

/** The prompt says which calls to make; a prompt that has been worked off is answered in words. */
const callsOfPrompt: Rule = (messages) => {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const hasCalled = messages.slice(last).some(({ role }) => role === 'assistant');
  const text = JSON.stringify(messages[last]?.content);
  const encoded = /calls:([\w+/=]+):end/.exec(text)?.[1];
  if (hasCalled || encoded === undefined) return { chunks: ['Done.'] };
  const calls = JSON.parse(Buffer.from(encoded, 'base64').toString()) as readonly ToolCall[];
  return { calls: calls.map((call, index) => ({ id: `call-${last}-${index}`, ...call })) };
};

async function turn(
  session: WireSession,
  calls: readonly ToolCall[],
): Promise<{ readonly leaks: readonly string[]; readonly successes: number }> {
  const encoded = Buffer.from(JSON.stringify(calls)).toString('base64');
  const events = await session.turn(`calls:${encoded}:end`);
  const results = events.filter(({ type }) => type === 'tool.execution_complete');
  const leaks = results.flatMap((event) => {
    const text = JSON.stringify(event);
    const index = Number(/"toolCallId":"call-\d+-(\d+)"/.exec(text)?.[1]);
    const hasLeaked = text.includes(secret) || text.includes(secretName);
    return hasLeaked ? [`${JSON.stringify(calls[index])} gave ${text.slice(0, 400)}`] : [];
  });
  const successes = results.filter(({ data }) => (data as { readonly success?: boolean }).success).length;
  return { leaks, successes };
}

/** Every tool by every way to name a place, those that only a link makes wrong and those that are wrong by themselves. */
function callsFrom(random: Random, { work, outside }: World): (index: number) => ToolCall {
  const one = <T>(...values: readonly [T, ...T[]]): T => values[random.upTo(values.length) - 1] ?? values[0];
  const directory = () =>
    one(
      '.',
      'sub',
      './sub/',
      '../work',
      '../work/sub',
      work,
      join(work, 'sub'),
      'private',
      '../work/private',
      outside,
      '..',
    );
  const file = () =>
    join(one('sub', '../work/sub', join(work, 'sub'), 'private'), `file-${random.upTo(20) - 1}.txt`);
  const makers: readonly [(index: number) => ToolCall, ...((index: number) => ToolCall)[]] = [
    () => ({
      name: 'grep',
      arguments: {
        pattern: 'needle',
        path: directory(),
        output_mode: one('content', 'files_with_matches', 'count'),
        ...(random.isLucky() && { glob: '*.txt' }),
        ...(random.isLucky() && { '-C': 1 }),
      },
    }),
    () => ({ name: 'glob', arguments: { pattern: one('**/*.txt', '*.txt', '**/*'), paths: directory() } }),
    () => ({ name: 'glob', arguments: { pattern: join(directory(), '*.txt') } }),
    () => ({ name: 'view', arguments: { path: random.isLucky() ? file() : directory() } }),
    () => ({ name: 'edit', arguments: { path: file(), old_str: 'plain', new_str: 'plain' } }),
    (index) => ({
      name: 'create',
      arguments: {
        path: join(one('sub', work, join(work, 'sub')), `new-${index}.txt`),
        file_text: 'made by the model',
      },
    }),
  ];
  return (index) => one(...makers)(index);
}

/** As fast as it can, and for half of the time so seldom that a directory looks as if it had been left alone. */
function startFlipper({ work, outside }: World): ChildProcess {
  const program = `
    const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
    const { join } = require('node:path');
    const [work, ...targets] = process.argv.slice(1);
    const sub = join(work, 'sub');
    const nothing = new Int32Array(new SharedArrayBuffer(4));
    for (let round = 0; ; round += 1) {
      renameSync(sub, join(work, 'was-sub'));
      symlinkSync(targets[round % targets.length], sub);
      const isSeldom = Date.now() % 600 < 300;
      if (isSeldom) Atomics.wait(nothing, 0, 0, 1 + (round % 5));
      unlinkSync(sub);
      renameSync(join(work, 'was-sub'), sub);
      if (isSeldom) Atomics.wait(nothing, 0, 0, 21 + (round % 7) * 4);
      else if (round % 64 === 0) Atomics.wait(nothing, 0, 0, 1);
    }`;
  return spawn(process.execPath, ['-e', program, work, join(work, 'private'), outside], { stdio: 'ignore' });
}

/** What became of the denied directories. */
function changes({ work, outside }: World): readonly string[] {
  return [join(work, 'private'), outside].flatMap((directory) => {
    const names = readdirSync(directory);
    const isWhole = names
      .filter((name) => name.startsWith('file-'))
      .every((name) => readFileSync(join(directory, name), 'utf8') === `needle ${secret}\nplain text\n`);
    return names.length === 21 && isWhole ? [] : [`${directory} was changed: ${names.join(', ')}`];
  });
}
