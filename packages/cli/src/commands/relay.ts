import { connect as connectTcp, createServer, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { lastPort, UsageError } from '../flags/arguments.js';
import { textFlag } from '../flags/flags.js';
import { defineCommand } from './command.js';
import { addressFlags } from './web-door.js';

/** `groundcrew relay`: a port of this machine that leads to nodes elsewhere, over TLS. */
export const relay = defineCommand({
  usage: ['groundcrew relay --to URL [flags]'],
  summary: 'Forwards clients of this machine to nodes elsewhere, over TLS; for clients that know no TLS',
  flags: {
    to: textFlag(
      '--to',
      'URL',
      'tls://host:port or tcp://host:port; several, separated by commas, are tried in turn',
    ),
    port: addressFlags.port,
    ca: textFlag('--ca', 'F', 'a file with certificates to trust instead of those of the system'),
  },
  notes: `It listens on 127.0.0.1 only and passes everything on unchanged: clients show the token of the nodes. When the connection
to a node is lost, that of the client is closed too; the client connects again and reaches the next node.`,
  run: async ({ flags }, terminal) => {
    if (flags.to === undefined) throw new UsageError('groundcrew relay needs --to tls://host:port');
    const targets = readTargets(flags.to);
    const ca = flags.ca === undefined ? undefined : await readCertificates(flags.ca);
    const print = (line: string) => void terminal.errorOutput.write(`${line}\n`);
    const clients = new Set<Socket>();
    const server = createServer(socketOptions, (client) => {
      clients.add(client);
      client.once('close', () => clients.delete(client));
      void lead(client, { targets, ca, print });
    });
    return new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port: flags.port ?? 0, host: '127.0.0.1' }, () => {
        server.off('error', reject);
        // From here on it is one client that could not be accepted: too many files are open.
        server.on('error', ({ message }) => print(`A client could not be accepted: ${message}`));
        const address = server.address();
        const port = typeof address === 'object' && address !== null ? address.port : 0;
        terminal.output.write(`CLI server listening on port ${port}\n`);
      });
      terminal.onStop(() => {
        server.close();
        for (const client of clients) client.destroy();
        resolve(0);
      });
    });
  },
});

/** Each side may end its own direction first; keep-alive finds a peer that vanished without closing. */
const socketOptions = {
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 10_000,
};

async function readCertificates(file: string): Promise<Buffer> {
  const { readFile } = await import('node:fs/promises');
  return readFile(file).catch((error: Error) => {
    throw new UsageError(`--ca cannot be read: ${error.message}`);
  });
}

/** Where a relay leads. */
interface Target {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
}

function readTargets(text: string): readonly Target[] {
  return text.split(',').map((each) => {
    const [, kind, host, port] = /^(tls|tcp):\/\/(\[[^\]]+\]|[^:/]+):(\d+)\/?$/i.exec(each.trim()) ?? [];
    if (kind === undefined || host === undefined || Number(port) > lastPort)
      throw new UsageError('--to needs addresses such as tls://host:4321, separated by commas');
    return { isTls: kind.toLowerCase() === 'tls', host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
}

interface Way {
  readonly targets: readonly Target[];
  readonly ca: Buffer | undefined;
  print(line: string): void;
}

/** Connects one client to the first node that answers, and passes bytes until both sides have said all. */
async function lead(client: Socket, { targets, ca, print }: Way): Promise<void> {
  client.on('error', () => client.destroy());
  for (const target of targets) {
    if (client.destroyed) return;
    try {
      join(client, await reach(target, ca));
      return;
    } catch (error) {
      print(`${target.host}:${target.port} does not answer: ${(error as Error).message}`);
    }
  }
  client.destroy();
}

/** A side that is gone ends the other, which first gets what was sent to it. */
function join(client: Socket, node: Socket): void {
  node.on('error', () => node.destroy());
  client.on('close', () => node.destroySoon());
  node.on('close', () => client.destroySoon());
  client.pipe(node);
  node.pipe(client);
  if (client.destroyed) node.destroy();
}

function reach({ isTls, host, port }: Target, ca: Buffer | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const where = { host, port, ...socketOptions };
    // A certificate for an address has it among its own; as a name it may not be sent.
    const name = isIP(host) === 0 && { servername: host };
    const socket = isTls ? connectTls({ ...where, ...name, ...(ca && { ca }) }) : connectTcp(where);
    const stop = setTimeout(
      () => socket.destroy(new Error(`no answer within ${answerMs / 1_000} s`)),
      answerMs,
    );
    socket.once('error', reject);
    socket.once('close', () => clearTimeout(stop));
    socket.once(isTls ? 'secureConnect' : 'connect', () => {
      clearTimeout(stop);
      resolve(socket);
    });
  });
}

const answerMs = 5_000;
