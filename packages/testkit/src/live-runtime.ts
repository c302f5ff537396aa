import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { RuntimeProcess, temporaryDirectory } from './runtime-process.js';
import { ScriptedApi, type ScriptedModel, type ScriptedReply } from './scripted-api.js';
import { WireClient } from './wire-client.js';
import type { WireSession } from './wire-session.js';

/** How the runtime of a test file is started. */
export interface LiveRuntimeOptions {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A session and the model behind it. */
export interface LiveSession {
  readonly session: WireSession;
  readonly model: ScriptedModel;
}

/** One real runtime for all tests of a file; after each test, all its events must have been right. */
export class LiveRuntime {
  readonly home = temporaryDirectory();
  private readonly processes: RuntimeProcess[] = [];
  private readonly clients: WireClient[] = [];
  private readonly examined: WireClient[] = [];
  private readonly models: ScriptedModel[] = [];
  private readonly known = new Set<string>();
  private openApi: ScriptedApi | undefined;
  private first: { readonly process: RuntimeProcess; readonly client: WireClient } | undefined;

  constructor(private readonly options: LiveRuntimeOptions) {}

  /** The model service; it outlives every runtime. */
  get api(): ScriptedApi {
    if (!this.openApi) throw new Error('The runtime has not been started');
    return this.openApi;
  }

  get process(): RuntimeProcess {
    return this.started.process;
  }

  /** The first connection. */
  get client(): WireClient {
    return this.started.client;
  }

  /** Where sessions work. */
  get workingDirectory(): string {
    return join(this.home.path, 'work');
  }

  async start(): Promise<void> {
    mkdirSync(this.workingDirectory, { recursive: true });
    this.openApi ??= await ScriptedApi.open();
    const process = this.spawn(this.options);
    this.first = { process, client: await this.connect(process) };
  }

  /** Another runtime, on the same home unless another is named. */
  spawn(options: LiveRuntimeOptions & { readonly home?: string } = {}): RuntimeProcess {
    const { flags = [], environment, home = this.home.path } = options;
    const process = new RuntimeProcess({
      flags: ['--headless', ...flags],
      home,
      workingDirectory: this.workingDirectory,
      ...(environment && { environment }),
    });
    this.processes.push(process);
    return process;
  }

  /** Another connection; `hasGaps` for one that will not receive all, such as of a session that went elsewhere. */
  async connect(
    process: RuntimeProcess = this.process,
    options: { readonly hasGaps?: boolean } = {},
  ): Promise<WireClient> {
    const client = new WireClient(await process.connect());
    this.clients.push(client);
    if (!options.hasGaps) this.examined.push(client);
    return client;
  }

  /** A model that plays these replies. */
  script(...replies: readonly ScriptedReply[]): ScriptedModel {
    const model = this.api.script(...replies);
    this.models.push(model);
    return model;
  }

  /** A session on the first connection, with a model that plays these replies. */
  async session(
    replies: readonly ScriptedReply[],
    params: Readonly<Record<string, unknown>> = {},
  ): Promise<LiveSession> {
    const model = this.script(...replies);
    const session = await this.client.create({ ...providerOf(model), ...params });
    return { session, model };
  }

  /** No event since the last check was wrong, and no history was refused. */
  check(): void {
    const all = [
      ...this.examined.flatMap((client) => client.examine()),
      ...this.models.flatMap((model) => model.refusals),
    ];
    const fresh = all.filter((problem) => !this.known.has(problem));
    for (const problem of fresh) this.known.add(problem);
    expect(fresh).toEqual([]);
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
    await Promise.all(this.processes.map((process) => process.stop()));
    await this.openApi?.close();
    this.home.remove();
  }

  private get started() {
    if (!this.first) throw new Error('The runtime has not been started');
    return this.first;
  }
}

/** The settings that lead a session to this model. */
export function providerOf(model: ScriptedModel): {
  readonly model: string;
  readonly provider: { readonly baseUrl: string; readonly apiKey: string };
} {
  return { model: 'scripted', provider: { baseUrl: model.baseUrl, apiKey: 'key-of-the-tests' } };
}

/** Starts a runtime before the tests of this file and stops it after them. */
export function liveRuntime(options: LiveRuntimeOptions = { flags: ['--stdio'] }): LiveRuntime {
  const runtime = new LiveRuntime(options);
  beforeAll(() => runtime.start());
  afterEach(() => runtime.check());
  afterAll(() => runtime.stop());
  return runtime;
}
