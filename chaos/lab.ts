import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Rule, RuleModel } from '@groundcrew/testkit';
import { ChaosClient, type ChaosClientOptions } from './client.js';
import { rule as usualRule } from './conversation.js';
import type { Ledger } from './ledger.js';
import { RuntimeChild } from './runtime-child.js';
import { type ChaosStores, sqliteStores } from './stores.js';
import { survivorsOf } from './survivors.js';

/** Where runtimes are killed: a program, a model that outlives it, and room for homes. */
export interface Lab {
  readonly program: string;
  readonly model: RuleModel;
  /** What every runtime is started with besides. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stores: ChaosStores;
  newHome(): Promise<string>;
  /** A home with the same files and the same sessions, whose runtimes have ended. */
  copyOf(home: string): Promise<string>;
  close(): Promise<void>;
}

/** One process, from its start to its end. */
export interface Life {
  readonly home: string;
  readonly ledgers: readonly Ledger[];
  /** Two of them share every session, and come by a socket. */
  readonly clients?: 1 | 2;
  /** What a client is like, by its place; the first one runs the tools. */
  readonly roles?: readonly Pick<ChaosClientOptions, 'hooks' | 'asksNobody'>[];
  /** The write step at which it kills itself. */
  readonly failpoint?: number;
  /** Milliseconds after which it is killed. */
  readonly killAfter?: number;
  /** Milliseconds after which the second client's connection breaks. */
  readonly dropAfter?: number;
}

/** How a process ended. */
export interface LifeEnd {
  readonly wasKilled: boolean;
  readonly milliseconds: number;
}

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Builds the program with its failpoints, unless it is there and fresh; returns its path. */
export function buildProgram(): string {
  const built = spawnSync(
    process.execPath,
    ['packages/cli/scripts/build.mjs', '--failpoints', '--if-stale'],
    { cwd: repository, encoding: 'utf8' },
  );
  if (built.status !== 0) throw new Error(`The program could not be built: ${built.stderr}`);
  return join(repository, 'packages/cli/dist-failpoints/main.cjs');
}

/** `chunkPause`: how slowly the model speaks, in milliseconds a chunk. */
export async function openLab(options: {
  readonly program: string;
  readonly chunkPause?: number;
  readonly environment?: Readonly<Record<string, string>>;
  /** Files in the homes unless given. */
  readonly stores?: ChaosStores;
  /** What the model says; that of the conversation unless given. */
  readonly rule?: Rule;
}): Promise<Lab> {
  const { program, chunkPause = 0, environment = {}, stores = sqliteStores, rule = usualRule } = options;
  const root = mkdtempSync(join(tmpdir(), 'groundcrew-chaos-'));
  const model = await RuleModel.open(rule, { chunkPause });
  return {
    program,
    model,
    environment,
    stores,
    newHome: async () => {
      const home = mkdtempSync(join(root, 'home-'));
      await stores.prepare(home);
      return home;
    },
    copyOf: async (original) => {
      const home = mkdtempSync(join(root, 'home-'));
      cpSync(original, home, { recursive: true });
      await stores.prepare(home, original);
      return home;
    },
    close: async () => {
      await model.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Lets a process live until `play` is over or it is killed; what goes wrong in a living one is a problem. */
export async function live(
  lab: Lab,
  life: Life,
  play: (clients: readonly ChaosClient[], runtime: Pick<RuntimeChild, 'kill'>) => Promise<void>,
): Promise<LifeEnd> {
  const { ledgers, clients: count = 1, failpoint, killAfter, dropAfter } = life;
  const runtime = new RuntimeChild({
    program: lab.program,
    home: life.home,
    door: count === 1 ? 'stdio' : 'port',
    environment: { ...lab.environment, ...lab.stores.environment(life.home) },
    ...(failpoint !== undefined && { failpoint }),
  });
  const say = (problem: string) => ledgers[0]?.problems.push(problem);
  const clients: ChaosClient[] = [];
  const timers: NodeJS.Timeout[] = [];
  let began = performance.now();
  try {
    for (let i = 0; i < count; i++) {
      const servesTools = i === 0;
      clients.push(await ChaosClient.connect({ runtime, model: lab.model, servesTools, ...life.roles?.[i] }));
    }
    await clients[0]?.wire.call('ping', {});
    began = performance.now();
    if (killAfter !== undefined) timers.push(setTimeout(() => void runtime.kill(), killAfter));
    if (dropAfter !== undefined) timers.push(setTimeout(() => void clients[1]?.drop(), dropAfter));
    await play(clients, runtime);
  } catch (error) {
    await Promise.race([runtime.gone, pause(1000)]);
    if (!runtime.isGone) say(`${String(error)} ${runtime.stderr}`.trim());
  }
  for (const timer of timers) clearTimeout(timer);
  const milliseconds = performance.now() - began;
  const wasKilled = runtime.isGone;
  const signal = await runtime.kill();
  const survivors = await survivorsOf(life.home);
  if (survivors.length > 0) say(`processes live on: ${survivors.join(', ')}`);
  if (wasKilled && signal !== 'SIGKILL') say(`the runtime ended by itself: ${runtime.stderr}`);
  for (const client of clients) {
    if (!wasKilled) for (const failure of client.failures) say(failure);
    for (const problem of client.wire.examine()) say(problem);
  }
  return { wasKilled, milliseconds };
}
