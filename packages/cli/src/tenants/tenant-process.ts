import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { MachineSandbox } from '@groundcrew/runtime';
import type { Identity } from '@groundcrew/server';
import type { Bwrap } from './find-bwrap.js';
import {
  channelPath,
  type FromTenant,
  passOf,
  type TenantStart,
  type ToTenant,
  tenantHost,
} from './tenant-messages.js';

/** How the runtime of a tenant is started. */
export interface TenantProcessOptions {
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** What puts it into a box. */
  readonly box?: Bwrap & { readonly parameters: readonly string[] };
  readonly environment: Readonly<Record<string, string>>;
  readonly start: TenantStart;
  /** Where its socket is on this side. */
  readonly socketPath: string;
  onMessage(message: FromTenant): void;
}

const startMs = 30_000;
const stopMs = 35_000;

/** The runtime of one tenant: a process of its own. */
export class TenantProcess {
  /** Resolves when it has ended, for whatever reason. */
  readonly ended: Promise<void>;
  private readonly child: ChildProcess;
  private isOver = false;
  private errors = '';

  private constructor(
    private readonly options: TenantProcessOptions,
    hardening: Hardening | undefined,
  ) {
    this.child = startChild(options, hardening);
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.errors = (this.errors + chunk.toString('utf8')).slice(-keptErrors);
    });
    this.child.on('message', (message) => options.onMessage(message as FromTenant));
    // What cannot be sent was for a process that is gone.
    this.child.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.child.once('exit', () => {
        this.isOver = true;
        resolve();
      });
      this.child.once('error', () => {
        if (this.child.pid !== undefined) return;
        this.isOver = true;
        resolve();
      });
    });
  }

  /** Rejects with why it could not be started. */
  static async start(options: TenantProcessOptions): Promise<TenantProcess> {
    const hardening = options.box && (await MachineSandbox.hardenBox(streams, options.box));
    const made: TenantProcess = new TenantProcess(
      {
        ...options,
        onMessage: (message) => {
          made.child.emit('said', message);
          options.onMessage(message);
        },
      },
      hardening,
    );
    const answer = new Promise<FromTenant>((resolve) => {
      made.child.on('said', (message: FromTenant) => {
        if (message.kind === 'ready' || message.kind === 'failed') resolve(message);
      });
    });
    made.send(options.start);
    const timer = new Promise<string>((resolve) =>
      setTimeout(() => resolve('it did not answer'), startMs).unref(),
    );
    const end = made.ended.then(() => `it ended: ${made.errors.trim() || 'without a word'}`);
    const outcome = await Promise.race([answer, timer, end]);
    if (typeof outcome === 'object' && outcome.kind === 'ready') return made;
    made.child.kill('SIGKILL');
    throw new Error(
      `The runtime of the tenant ${options.start.tenant} could not be started: ${reasonOf(outcome)}`,
    );
  }

  get hasEnded(): boolean {
    return this.isOver;
  }

  send(message: ToTenant): void {
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  /** A socket whose bytes are messages of this client. */
  async channel(identity: Identity): Promise<Socket> {
    const asked = request(
      this.requestOptions(identity, {
        path: channelPath,
        headers: { connection: 'Upgrade', upgrade: 'groundcrew' },
      }),
    );
    asked.end();
    const [response, socket] = await Promise.race([
      once(asked, 'upgrade') as Promise<[IncomingMessage, Socket]>,
      once(asked, 'response').then(() => Promise.reject(new Error('The runtime of the tenant refused'))),
    ]);
    response.resume();
    return socket;
  }

  /** What a request to it needs besides its own. */
  requestOptions(
    identity: Identity,
    {
      path,
      method = 'GET',
      headers,
    }: { path: string; method?: string; headers: Record<string, string | string[]> },
  ) {
    const pass = passOf(this.options.start.secret, identity);
    return {
      socketPath: this.options.socketPath,
      path,
      method,
      headers: { ...headers, host: tenantHost, authorization: `Bearer ${pass}` },
    };
  }

  /** Resolves when it has handed its sessions over to other nodes, or has ended. */
  async drain(milliseconds: number): Promise<void> {
    const drained = new Promise<void>((resolve) => {
      this.child.on('said', ({ kind }: FromTenant) => {
        if (kind === 'drained') resolve();
      });
    });
    this.send({ kind: 'drain', milliseconds });
    await Promise.race([drained, this.ended]);
  }

  /** Ends it: its sessions are closed, and what they work on stays as pending work. */
  async stop(): Promise<void> {
    this.send({ kind: 'stop' });
    const timer = setTimeout(() => this.child.kill('SIGKILL'), stopMs);
    await this.ended;
    clearTimeout(timer);
  }
}

function reasonOf(outcome: FromTenant | string): string {
  if (typeof outcome === 'string') return outcome;
  return 'message' in outcome ? outcome.message : '';
}

const keptErrors = 4096;

const streams = ['ignore', 'ignore', 'pipe', 'ipc'] as const;

type Hardening = Awaited<ReturnType<typeof MachineSandbox.hardenBox>>;

function startChild(
  { command, box, environment }: TenantProcessOptions,
  hardening: Hardening | undefined,
): ChildProcess {
  const options = { cwd: '/', env: { ...environment }, serialization: 'json' as const };
  if (!box || !hardening) {
    const [program, ...parameters] = command;
    return spawn(program, parameters, { ...options, stdio: [...streams] });
  }
  try {
    const parameters = [...hardening.words, ...box.parameters, '--', ...command];
    return spawn(box.program, parameters, { ...options, stdio: hardening.stdio });
  } finally {
    hardening.close();
  }
}
