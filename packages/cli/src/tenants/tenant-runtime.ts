import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { type HttpDoor, openHttpDoor } from '@groundcrew/http-door';
import { byteChannel, webSocketChannel } from '@groundcrew/rpc';
import type { Identity } from '@groundcrew/server';
import type { DayUse, TenantSettings } from '@groundcrew/tenants';
import { compose, type Program, type ProgramOptions } from '../compose.js';
import { pageRoutes } from '../doors/page-routes.js';
import { channelOptions } from '../doors/serve-channel.js';
import { redactorFor } from '../log/redact.js';
import { DoorOutbox } from './door-outbox.js';
import { TenantQuotas } from './quotas.js';
import { SharedMeter } from './shared-meter.js';
import {
  channelPath,
  type FromTenant,
  type TenantStart,
  type ToTenant,
  tenantHost,
} from './tenant-messages.js';

/** The process of one tenant: a runtime that only the door reaches, by a socket with a secret. */
export async function runTenant(version: string): Promise<void> {
  const start = await new Promise<TenantStart>((resolve) => {
    process.once('message', (message) => resolve(message as TenantStart));
  });
  const outbox = new DoorOutbox(send);
  process.on('message', (received) => {
    const message = received as ToTenant;
    if (message.kind === 'kept') outbox.answered(message);
  });
  process.once('disconnect', () => outbox.end());
  let tenant: TenantRuntime;
  try {
    tenant = new TenantRuntime(start, version, await webhooksOf(start, outbox));
    // The outbox needs answers of the door already while the runtime opens.
    process.on('message', (message) => void tenant.receive(message as ToTenant));
    await tenant.open();
  } catch (error) {
    await send({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
    process.exit(1);
  }
  // The door is gone, and with it every client.
  process.once('disconnect', () => void tenant.close());
  await send({ kind: 'ready' });
}

async function webhooksOf(
  { webhooks: endpoints, tenant }: TenantStart,
  { port }: DoorOutbox,
): Promise<ProgramOptions['openWebhooks']> {
  if (endpoints.length === 0) return undefined;
  const { Webhooks } = await import('@groundcrew/webhooks');
  const warn = (message: string) => void send({ kind: 'warning', message });
  return (storeOf) => new Webhooks({ endpoints, storeOf, tenant, outbox: port, warn });
}

/** Resolves when the door's end of the pipe has the message: it is not lost with this process. */
function send(message: FromTenant): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send || !process.connected) resolve();
    else process.send(message, undefined, undefined, () => resolve());
  });
}

class TenantRuntime {
  private readonly program: Program;
  private door: HttpDoor | undefined;
  private clients = 0;
  private settings: TenantSettings;
  private used: DayUse;
  private readonly meter: SharedMeter | undefined;
  private ending: Promise<void> | undefined;

  constructor(
    private readonly start: TenantStart,
    version: string,
    openWebhooks: ProgramOptions['openWebhooks'],
  ) {
    const { gitHubToken, protocol, sandbox, store, cluster } = start;
    this.settings = start.settings;
    this.used = start.used;
    const quotas = new TenantQuotas({
      quotas: () => this.settings.quotas ?? {},
      used: () => this.usedToday(),
      add: (use) => this.add(use),
      onRefused: (reason) => void send({ kind: 'refused', reason }),
      shared: () => this.meter,
    });
    const warn = (message: string) => void send({ kind: 'warning', message });
    this.program = compose({
      version,
      homeDirectory: start.homeDirectory,
      workingDirectory: start.workingDirectory,
      environment: start.environment,
      sessionIdleSeconds: start.sessionIdleSeconds,
      access: {
        tenant: start.tenant,
        audit: (entry, identity) => void send({ kind: 'audit', entry, identity }),
        admit: quotas.admit,
      },
      watchModels: (access, priceOf) => quotas.watch(access, priceOf),
      onKeyHeld: (held) => void send({ kind: 'held', held }),
      warn,
      // No tenant ends the server; the role that may is not given here.
      onShutdown: () => void this.close(),
      ...(gitHubToken !== undefined && { token: { value: gitHubToken, source: 'env' as const } }),
      ...(protocol !== undefined && { clients: { protocol } }),
      ...(sandbox && { sandbox }),
      ...(openWebhooks && { openWebhooks }),
      ...(store !== undefined && { store }),
      ...(cluster && { cluster }),
    });
    const { shared } = this.program;
    this.meter = shared && new SharedMeter({ ...shared, warn });
  }

  async open(): Promise<void> {
    const { program, start } = this;
    const redactor = redactorFor(start.environment, start.secret);
    await program.join();
    this.door = await openHttpDoor({
      path: start.socketPath,
      mostConnections: 10_000,
      token: undefined,
      tokens: { authenticate: async (pass) => identityIn(pass, start) },
      allowedHosts: [tenantHost],
      routes: {
        ...pageRoutes({ store: program.store, redact: (text) => redactor.text(text) }),
        '/events': { answer: (request) => program.events(request) },
      },
      sockets: {
        '/rpc': {
          accept: (socket, { bytes, identity }) =>
            void this.serve(webSocketChannel({ socket, bytes }, channelOptions), identity as Identity),
        },
        [channelPath]: {
          accept: (socket) => socket.terminate(),
          forward: (request, stream, identity) => this.take(request, stream, identity as Identity),
        },
      },
      onFailure: (error) => void send({ kind: 'warning', message: String(error) }),
    });
    program.openStore();
  }

  async receive(message: ToTenant): Promise<void> {
    if (message.kind === 'settings') this.settings = message.settings;
    if (message.kind === 'held') this.program.holdKey(message.held);
    if (message.kind === 'drain') await this.drain(message.milliseconds);
    if (message.kind === 'stop') await this.close();
    if (message.kind === 'stop-if-idle' && this.clients === 0 && this.program.hasNoSessions())
      await this.close();
  }

  /** Notifies clients and hands sessions over to other nodes; clients that stay are forwarded while there is time. */
  private async drain(milliseconds: number): Promise<void> {
    const limit = AbortSignal.timeout(milliseconds);
    this.program.server.announceDrain();
    await this.program.drain(limit);
    while (this.clients > 0 && !limit.aborted)
      await pause(50, undefined, { signal: limit }).catch(() => undefined);
    await send({ kind: 'drained' });
  }

  /** Closes sessions and stores, and ends the process; running turns stay as pending work. */
  close(): Promise<void> {
    this.ending ??= (async () => {
      await this.door?.close();
      await this.program.close();
      process.exit(0);
    })();
    return this.ending;
  }

  private usedToday(): DayUse {
    const day = new Date().toISOString().slice(0, 10);
    if (this.used.day !== day) this.used = { day, tokens: 0, cost: 0 };
    return this.used;
  }

  /** The door keeps it, where no command of the tenant can change it. */
  private add(use: DayUse): void {
    const { day, tokens, cost } = this.usedToday();
    this.used = { day, tokens: tokens + use.tokens, cost: cost + use.cost };
    void send({ kind: 'usage', use });
  }

  private take(
    { headers }: IncomingMessage,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
    identity: Identity,
  ): boolean {
    if (headers.upgrade !== 'groundcrew') return false;
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: groundcrew\r\n\r\n');
    if (head.length > 0) socket.unshift(head);
    void this.serve(byteChannel({ input: socket, output: socket }, channelOptions), identity);
    return true;
  }

  private async serve(channel: Parameters<Program['server']['serve']>[0], identity: Identity): Promise<void> {
    this.clients += 1;
    try {
      await this.program.server.serve(channel, { identity });
    } finally {
      this.clients -= 1;
    }
  }
}

/** The identity that the door sent; undefined unless it shows the secret and names this tenant. */
function identityIn(pass: string, { secret, tenant }: TenantStart): Identity | undefined {
  const shown = Buffer.from(pass.slice(0, secret.length));
  const expected = Buffer.from(secret);
  if (shown.length !== expected.length || !timingSafeEqual(shown, expected)) return undefined;
  const identity = JSON.parse(Buffer.from(pass.slice(secret.length + 1), 'base64url').toString()) as Identity;
  return identity.tenant === tenant ? identity : undefined;
}
