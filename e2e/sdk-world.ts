import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  Client,
  type ClientOptions,
  type HandlerFailure,
  type Session,
  type SessionEvent,
  type SessionOptions,
} from '@groundcrew/sdk';
import {
  providerOf,
  ScriptedApi,
  type ScriptedModel,
  type ScriptedReply,
  temporaryDirectory,
} from '@groundcrew/testkit';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

/** The program, as an app that has no installed one names it. */
export const runtimePath = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));

/** Apps, a scripted model service and a home for the runtimes they start. */
export class SdkWorld {
  readonly home = temporaryDirectory();
  readonly workingDirectory = join(this.home.path, 'work');
  /** What handlers of the apps threw. */
  failures: HandlerFailure[] = [];
  /** What the apps were warned of. */
  readonly warnings: string[] = [];
  private readonly clients: Client[] = [];
  private readonly models: ScriptedModel[] = [];
  private api: ScriptedApi | undefined;
  private shared: Client | undefined;
  private programs = 0;

  async open(): Promise<void> {
    mkdirSync(this.workingDirectory, { recursive: true });
    this.api = await ScriptedApi.open();
  }

  /** One client for tests that do not mind whose runtime it is. */
  get client(): Client {
    this.shared ??= this.newClient();
    return this.shared;
  }

  /** A client with a runtime of its own, on the same home. */
  newClient(options: ClientOptions = {}): Client {
    const client = new Client({
      workingDirectory: this.workingDirectory,
      baseDirectory: this.home.path,
      env: { PATH: process.env.PATH, HOME: this.home.path },
      onHandlerError: (failure) => this.failures.push(failure),
      onWarning: (message) => this.warnings.push(message),
      ...options,
    });
    this.clients.push(client);
    return client;
  }

  script(...replies: readonly ScriptedReply[]): ScriptedModel {
    if (!this.api) throw new Error('The world is not open');
    const model = this.api.script(...replies);
    this.models.push(model);
    return model;
  }

  /** A program that does something before it becomes the runtime, or instead. */
  program(source: string): string {
    const path = join(this.home.path, `program-${this.programs++}.cjs`);
    writeFileSync(path, source);
    return path;
  }

  /** A session of the shared client, or of another, whose model plays these replies. */
  async session(
    replies: readonly ScriptedReply[],
    options: SessionOptions = {},
    client = this.client,
  ): Promise<{ readonly session: Session; readonly model: ScriptedModel }> {
    const model = this.script(...replies);
    return { session: await client.createSession({ ...providerOf(model), ...options }), model };
  }

  check(): void {
    expect(this.failures.splice(0)).toEqual([]);
    expect(this.models.flatMap((model) => model.refusals)).toEqual([]);
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.forceStop()));
    await this.api?.close();
    this.home.remove();
  }
}

/** A world for the tests of one file; after each of them, no handler has thrown unnoticed. */
export function sdkWorld(): SdkWorld {
  const world = new SdkWorld();
  beforeAll(() => world.open());
  afterEach(() => world.check());
  afterAll(() => world.close());
  return world;
}

/** A promise that other code settles. */
export function deferred<T>(): { readonly promise: Promise<T>; resolve(value: T): void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** The first event of a type, from this call on. */
export async function nextEvent<K extends SessionEvent['type']>(
  session: Session,
  type: K,
): Promise<Extract<SessionEvent, { type: K }>> {
  for await (const event of session.events()) {
    if (event.type === type) return event as Extract<SessionEvent, { type: K }>;
  }
  throw new Error(`The session ended before ${type}`);
}
