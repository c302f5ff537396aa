import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WireClient } from '@groundcrew/testkit';
import { buildProgram } from '../chaos/lab.js';
import { Random } from '../chaos/random.js';
import { RuntimeChild } from '../chaos/runtime-child.js';
import type { Attack, AttackOptions } from './attack.js';

const mark = 'the-words-that-must-go';
const doomed = 'doomed';
const kept = 'kept';

/** What a client asked for, and what was done to the home after the runtime had died. */
interface Case {
  /** The write step at which the runtime kills itself. */
  readonly step: number;
  /** What follows: another runtime, or damage to the files and a repair. */
  readonly then: 'restart' | 'damage';
  readonly seed: number;
}

/**
 * Deletes a session and kills the runtime at each write step of that in turn. Then a later start, or a repair of files that
 * were damaged meanwhile, must finish it: no file of the home has a word of the session, and no list has it. Another
 * session must not suffer, unless it was damaged.
 */
export async function attackDeletion({ count, seed }: AttackOptions): Promise<Attack> {
  const root = mkdtempSync(join(tmpdir(), 'groundcrew-deletion-'));
  const world = { program: buildProgram(), root, base: join(root, 'base') };
  const random = new Random(seed);
  const violations: string[] = [];
  try {
    await furnish(world);
    const steps = await countSteps(world);
    for (let index = 0; index < count; index += 1) {
      // Each step in turn; where there are fewer cases than steps, they are spread over all of them.
      const step = 1 + (Math.floor(index * Math.max(1, steps / count)) % steps);
      const then = (index + Math.floor(index / steps)) % 2 === 0 ? 'damage' : 'restart';
      const trial: Case = { step, then, seed: random.upTo(2 ** 30) };
      for (const fault of await attempt(world, trial)) violations.push(`${JSON.stringify(trial)}: ${fault}`);
    }
    return { tried: count, violations, measured: `${steps} write steps` };
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface World {
  readonly program: string;
  readonly root: string;
  /** A home with both sessions in it; each case has a copy. */
  readonly base: string;
}

/** Both sessions talk in turns, so that their records lie side by side; the doomed one also leaves files. */
async function furnish({ program, base }: World): Promise<void> {
  mkdirSync(join(base, 'results'), { recursive: true });
  await withRuntime({ program, home: base }, async (client) => {
    const largeOutput = { enabled: true, maxSizeBytes: 4096, outputDir: join(base, 'results') };
    const sessions = [];
    for (const sessionId of [doomed, kept])
      sessions.push(await client.create({ sessionId, largeOutput, model: 'offline' }));
    for (let round = 0; round < 6; round += 1) {
      for (const session of sessions) {
        const words = session.sessionId === doomed ? mark : 'other words';
        await session.send(`Say '${`${words} `.repeat(1 + round * 60)}'`);
        await session.next('session.idle');
      }
    }
    const [first] = sessions;
    await first?.call('session.permissions.setApproveAll', { enabled: true });
    await first?.send(`Run \`for i in $(seq 400); do echo ${mark}; done\``);
    await first?.next('session.idle');
    await first?.call('session.workspaces.createFile', { path: 'notes.txt', content: mark });
    await first?.call('session.plan.update', { content: mark });
  });
  const there = wordsIn(base);
  if (
    !there.some((file) => file.includes('results')) ||
    !there.some((file) => file.includes('session-state'))
  )
    throw new Error(`The session to delete left too little: ${there.join(', ')}`);
}

/** How many write steps a deletion has without disturbance, those of the start included. */
async function countSteps(world: World): Promise<number> {
  let [killed, survived] = [0, 64];
  if (await diesAt(world, survived)) throw new Error('A deletion has more write steps than were looked for');
  while (survived - killed > 1) {
    const middle = Math.floor((killed + survived) / 2);
    if (await diesAt(world, middle)) killed = middle;
    else survived = middle;
  }
  return killed;
}

async function diesAt(world: World, step: number): Promise<boolean> {
  const home = copyOf(world, step);
  const isKilled = await deleteUntilKilled(world, home, step);
  const left = isKilled ? [] : wordsIn(home);
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  if (left.length > 0) throw new Error(`An undisturbed deletion left ${left.join(', ')}`);
  return isKilled;
}

async function attempt(world: World, { step, then, seed }: Case): Promise<readonly string[]> {
  const home = copyOf(world, seed);
  try {
    await deleteUntilKilled(world, home, step);
    const isBegun = !isListed(world, home) || hasMark(home);
    if (then === 'damage') damage(home, new Random(seed));
    else if (isBegun)
      await withRuntime(
        { program: world.program, home },
        async (client) => void (await client.call('ping', {})),
      );
    const repaired = run(home, ['doctor']);
    if (!isBegun) return [];
    const faults: string[] = [];
    const left = wordsIn(home);
    if (left.length > 0) faults.push(`${left.join(', ')} has words of it; doctor: ${repaired}`);
    if (isListed(world, home)) faults.push(`it is listed; doctor: ${repaired}`);
    if (then === 'restart' && !run(home, ['sessions', 'ls', '--json']).includes(`"${kept}"`))
      faults.push('the other session is gone');
    return faults;
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function copyOf({ base, root }: World, name: number): string {
  const home = mkdtempSync(join(root, `home-${name}-`));
  cpSync(base, home, { recursive: true });
  // Notes name the place of long results in the home that they were made in.
  for (const file of filesIn(home)) {
    if (file.endsWith('.elsewhere')) writeFileSync(file, readFileSync(file, 'utf8').replace(base, home));
  }
  return home;
}

/** True when the runtime died of it. */
async function deleteUntilKilled({ program }: World, home: string, failpoint: number): Promise<boolean> {
  const runtime = new RuntimeChild({ program, home, door: 'stdio', failpoint });
  try {
    const client = await runtime.connect(() => undefined);
    const deleted = client.call('session.delete', { sessionId: doomed }).then(
      () => false,
      () => true,
    );
    return await Promise.race([deleted, runtime.gone.then(() => true)]);
  } finally {
    await runtime.kill();
  }
}

async function withRuntime(
  options: { readonly program: string; readonly home: string },
  work: (client: WireClient) => Promise<void>,
): Promise<void> {
  const runtime = new RuntimeChild({ ...options, door: 'stdio' });
  try {
    const client = await runtime.connect(() => undefined);
    await work(client);
    await client.call('runtime.shutdown', {});
  } finally {
    await runtime.kill();
  }
}

/** A page of zeros, some wrong bytes or a shorter file: the store, or its log where there is one. */
function damage(home: string, random: Random): void {
  const files = ['groundcrew.db', 'groundcrew.db-wal'].map((name) => join(home, name)).filter(existsSync);
  const file = files[random.upTo(files.length) - 1];
  const bytes = file === undefined ? Buffer.alloc(0) : readFileSync(file);
  if (file === undefined || bytes.length === 0) return;
  const at = random.upTo(bytes.length) - 1;
  const kind = random.upTo(3);
  if (kind === 1) bytes.fill(0, at & ~4095, (at & ~4095) + 4096);
  if (kind === 2)
    for (let index = 0; index < 8; index += 1) bytes[random.upTo(bytes.length) - 1] = random.upTo(255);
  writeFileSync(file, kind === 3 ? bytes.subarray(0, Math.max(at, Math.floor(bytes.length / 2))) : bytes);
}

function hasMark(home: string): boolean {
  const directory = join(home, 'run');
  return existsSync(directory) && readdirSync(directory).some((name) => name.startsWith('deleted-'));
}

/** Looks at a copy, so that looking changes nothing. */
function isListed(world: World, home: string): boolean {
  const copy = mkdtempSync(join(world.root, 'look-'));
  cpSync(home, copy, { recursive: true });
  const listed = run(copy, ['sessions', 'ls', '--json']);
  rmSync(copy, { recursive: true, force: true });
  return listed.includes(`"${doomed}"`);
}

const commandLine = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));

function run(home: string, words: readonly string[]): string {
  const environment = { PATH: process.env.PATH, HOME: home, GROUNDCREW_HOME: home };
  const { stdout, stderr } = spawnSync(process.execPath, [commandLine, ...words], {
    timeout: 60_000,
    cwd: home,
    env: environment,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

/** The files of a home that have words of the deleted session in them. */
function wordsIn(home: string): readonly string[] {
  return filesIn(home).filter((file) => readFileSync(file).includes(mark));
}

function filesIn(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
