import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../random.js';
import { faults, type Scene } from './faults.js';
import { type Book, Player } from './player.js';
import { type Node, World } from './world.js';

/** What one run came to. */
export interface RunResult {
  readonly problems: readonly string[];
  /** Milliseconds from the fault until the work was another node's. */
  readonly takeOvers: readonly number[];
  readonly events: number;
}

const sessions = 4;
const turnsBefore = 2;
const turnsAfter = 3;

interface Pair {
  readonly book: Book;
  readonly driver: Player;
  readonly watcher: Player;
}

/** Clients at work on three nodes while one thing goes wrong; then all that clients received is compared with the log. */
export async function chaosRun(
  fault: string,
  { seed, hasNetworks }: { readonly seed: number; readonly hasNetworks: boolean },
): Promise<RunResult> {
  const random = new Random(seed);
  const world = await World.open({
    hasStandby: fault === 'failover',
    hasNetworks: hasNetworks && fault.startsWith('cut'),
  });
  const takeOvers: number[] = [];
  try {
    const pairs = await Promise.all(
      Array.from({ length: sessions }, (_, index) => openPair(world, random, `s-${seed}-${index}`)),
    );
    const working = pairs.map((pair) => talk(pair, random));
    await pause(200 + random.upTo(800));
    await faults[fault]?.(sceneOf({ world, pairs, random, takeOvers }));
    await Promise.all(working);
    const verdicts = await Promise.all(pairs.map((pair) => verdictOn(world, pair)));
    await Promise.all(pairs.flatMap(({ driver, watcher }) => [driver.close(), watcher.close()]));
    return {
      problems: [...verdicts.flatMap(({ problems }) => problems), ...world.model.refusals],
      takeOvers,
      events: verdicts.reduce((sum, { events }) => sum + events, 0),
    };
  } finally {
    await world.close();
  }
}

async function openPair(world: World, random: Random, sessionId: string): Promise<Pair> {
  const book: Book = {
    sessionId,
    acknowledged: [],
    effects: [],
    accepted: new Map(),
    received: [],
    problems: [],
    diary: [],
  };
  const driver = new Player({ world, random, book, servesTool: true });
  const watcher = new Player({ world, random, book, servesTool: false });
  await driver.open();
  await watcher.open();
  return { book, driver, watcher };
}

/** Turns one after the other, some of them while the fault lasts. */
async function talk({ driver, watcher }: Pair, random: Random): Promise<void> {
  for (let turn = 1; turn <= turnsBefore + turnsAfter; turn += 1) {
    const name = `work-${turn}`;
    await (random.isLucky() ? driver : watcher).send(name);
    await Promise.all([driver.until(name), watcher.until(name)]);
    await pause(random.upTo(1_500));
  }
}

function sceneOf(parts: {
  readonly world: World;
  readonly pairs: readonly Pair[];
  readonly random: Random;
  readonly takeOvers: number[];
}): Scene {
  const { world, pairs, random, takeOvers } = parts;
  const owners = () =>
    world.query<{ id: string; owner_pid: number | null; has_work: boolean }>(
      'SELECT id, owner_pid, has_work FROM gc_session',
    );
  return {
    world,
    random,
    players: pairs.flatMap(({ driver, watcher }) => [driver, watcher]),
    victim: async () => {
      const rows = await owners();
      const count = ({ process }: Node) => rows.filter(({ owner_pid }) => owner_pid === process.pid).length;
      const [most] = world.nodes.filter(({ isUp }) => isUp).sort((a, b) => count(b) - count(a));
      if (!most) throw new Error('No node is up');
      return most;
    },
    takenOver: async ({ process: { pid } }) => {
      const began = performance.now();
      const rows = await owners();
      const open = new Set(rows.filter((row) => row.has_work && row.owner_pid === pid).map(({ id }) => id));
      while (open.size > 0 && performance.now() - began < 20_000) {
        for (const { id, owner_pid } of await owners().catch(() => []))
          if (open.has(id) && owner_pid !== pid) {
            open.delete(id);
            takeOvers.push(performance.now() - began);
          }
        await pause(10);
      }
    },
  };
}

async function verdictOn(
  world: World,
  { book, driver }: Pair,
): Promise<{ readonly problems: readonly string[]; readonly events: number }> {
  const { sessionId } = book;
  const stored = await driver.stored();
  const ids = stored.map(({ id }) => id);
  const problems = [...book.problems];
  const say = (problem: string) => problems.push(`${sessionId}: ${problem}`);
  const prompts = stored.filter(({ type }) => type === 'user.message');
  for (const messageId of book.acknowledged) {
    const times = prompts.filter(({ data }) => JSON.stringify(data).includes(messageId)).length;
    if (times !== 1) say(`the prompt ${messageId} was acknowledged and is there ${times} times`);
  }
  if (prompts.length !== turnsBefore + turnsAfter) say(`${prompts.length} prompts are in the log`);
  for (const run of book.received) {
    const start = ids.indexOf(run[0] ?? '');
    const part = start < 0 ? [] : ids.slice(start, start + run.length);
    if (run.join() !== part.join()) say(`a client received ${describe(run, ids)}`);
  }
  if (new Set(book.effects).size !== book.effects.length) say(`effects: ${book.effects.join(' ')}`);
  for (const [requestId, times] of book.accepted)
    if (times > 1) say(`${times} answers to ${requestId} were accepted`);
  const asked = stored.filter(({ type }) => type === 'external_tool.requested').length;
  const done = stored.filter(({ type }) => type === 'external_tool.completed').length;
  if (asked !== done) say(`${asked} questions, ${done} answers`);
  const rows = await world.query<{ gaps: string }>(
    `SELECT count(*) - max(r.seq) AS gaps FROM gc_record r JOIN gc_session s ON s.number = r.session WHERE s.id = '${sessionId}'`,
  );
  if (Number(rows[0]?.gaps) !== 0) say(`the log has a gap: ${rows[0]?.gaps}`);
  if (problems.length > 0) say(`its clients: ${book.diary.join(' | ')}`);
  if (problems.length > 0) say(`its log: ${stored.map(({ type, data }) => brief(type, data)).join(' | ')}`);
  return { problems, events: stored.length };
}

function brief(type: string, data: unknown): string {
  const { content, message } = data as { readonly content?: unknown; readonly message?: unknown };
  const text = typeof content === 'string' ? content : message;
  return typeof text === 'string' && text !== '' ? `${type} ${text.slice(0, 60)}` : type;
}

/** Where what a client received first differs from the log. */
function describe(run: readonly string[], ids: readonly string[]): string {
  const places = run.map((id) => ids.indexOf(id));
  const wrong = places.findIndex((place, index) => index > 0 && place !== (places[index - 1] ?? 0) + 1);
  const from = Math.max(0, wrong - 2);
  return `events out of line at ${wrong}: places ${places.slice(from, wrong + 3).join(' ')} of ${ids.length}`;
}
