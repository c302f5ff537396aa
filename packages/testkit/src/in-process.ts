import { join } from 'node:path';
import { configuredProvider } from '@groundcrew/models';
import { channelPair } from '@groundcrew/rpc';
import { Runtime, type RuntimeOptions, Shells, systemClock, Workers } from '@groundcrew/runtime';
import { Server } from '@groundcrew/server';
import { openSqliteStore, type SqliteStore, withFileLock } from '@groundcrew/store-sqlite';
import { temporaryDirectory, workerEntry } from './runtime-process.js';
import { ScriptedApi } from './scripted-api.js';
import { WireClient } from './wire-client.js';

/** A runtime in the process of the test: the same parts, with its inside in view. */
export interface InProcessRuntime {
  readonly runtime: Runtime;
  readonly store: SqliteStore;
  readonly api: ScriptedApi;
  readonly client: WireClient;
  /** Another client. */
  connect(): WireClient;
  close(): Promise<void>;
}

/** Wires a runtime as the program does, with these bounds. */
export async function inProcessRuntime(
  options: Partial<Pick<RuntimeOptions, 'clock' | 'limits' | 'sessionIdleSeconds'>> = {},
): Promise<InProcessRuntime> {
  const home = temporaryDirectory();
  const api = await ScriptedApi.open();
  const store = openSqliteStore({ file: join(home.path, 'test.db'), runDirectory: join(home.path, 'run') });
  const workers = new Workers({ entry: workerEntry() });
  const runtime = new Runtime({
    home: () => ({ directory: home.path, store }),
    homeDirectory: home.path,
    openModels: async ({ provider }) => ({
      provider: configuredProvider({ baseUrl: '', ...provider }, { environment: {}, version: 'test' }),
      defaultModel: 'scripted',
      info: () => undefined,
      isCopilot: false,
    }),
    withFileLock,
    builtinTools: () => [],
    shells: new Shells({}),
    jobs: workers,
    userRules: () => ({ deny: [], allow: [] }),
    owner: { runtimeId: 'in-process', pid: process.pid, host: 'test' },
    clock: systemClock(),
    version: 'test',
    limits,
    sessionIdleSeconds: 0,
    ...options,
  });
  const server = new Server(runtime, {
    version: 'test',
    workingDirectory: home.path,
    homeDirectory: home.path,
    authStatus: () => ({ isAuthenticated: false }),
    listModels: async () => [],
    shutdown: () => server.shutdown(),
  });
  const clients: WireClient[] = [];
  const served: Promise<void>[] = [];
  const connect = () => {
    const [ours, theirs] = channelPair();
    served.push(server.serve(theirs));
    const another = new WireClient(ours);
    clients.push(another);
    return another;
  };
  const client = connect();
  const close = async () => {
    await Promise.all(clients.map((each) => each.close()));
    await Promise.all(served);
    await server.shutdown();
    await workers.close();
    await store.close();
    await api.close();
    home.remove();
  };
  return { runtime, store, api, client, connect, close };
}

const limits: RuntimeOptions['limits'] = {
  toolRounds: 1000,
  queuedPrompts: 1000,
  turnMilliseconds: 60_000,
  stopBlocks: 3,
  continuations: 5,
};
