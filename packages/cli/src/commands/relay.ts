import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { lastPort, UsageError } from '../flags/arguments.js';
import { numberFlag, textFlag } from '../flags/flags.js';
import { defineCommand } from './command.js';

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
    port: numberFlag({
      name: '--port',
      placeholder: 'N',
      help: 'the port; default: any free one',
      most: lastPort,
    }),
    ca: textFlag('--ca', 'F', 'a file with certificates to trust instead of those of the system'),
  },
  notes: `It listens on 127.0.0.1 only and passes everything on unchanged: clients show the token of the nodes. When the connection
to a node is lost, that of the client is closed too; the client connects again and reaches the next node.`,
  run: async ({ flags }, terminal) => {
    if (flags.to === undefined) throw new UsageError('groundcrew relay needs --to tls://host:port');
    const targets = readTargets(flags.to);
    const { readFileSync } = await import('node:fs');
    const ca = flags.ca === undefined ? undefined : readFileSync(flags.ca);
    const print = (line: string) => void terminal.errorOutput.write(`${line}\n`);
    const server = createServer({ noDelay: true }, (client) => void lead(client, { targets, ca, print }));
    return new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ port: flags.port ?? 0, host: '127.0.0.1' }, () => {
        const address = server.address();
        const port = typeof address === 'object' && address !== null ? address.port : 0;
        terminal.output.write(`CLI server listening on port ${port}\n`);
      });
      terminal.onStop(() => {
        server.close();
        resolve(0);
      });
    });
  },
});

/** Where a relay leads. */
interface Target {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
}

function readTargets(text: string): readonly Target[] {
  return text.split(',').map((each) => {
    const [, kind, host, port] = /^(tls|tcp):\/\/(\[[^\]]+\]|[^:/]+):(\d+)\/?$/i.exec(each.trim()) ?? [];
    if (kind === undefined || host === undefined)
      throw new UsageError('--to needs addresses such as tls://host:4321, separated by commas');
    return { isTls: kind.toLowerCase() === 'tls', host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
}

interface Way {
  readonly targets: readonly Target[];
  readonly ca: Buffer | undefined;
  print(line: string): void;
}

/** Connects one client to the first node that answers, and passes bytes until one side ends. */
async function lead(client: Socket, { targets, ca, print }: Way): Promise<void> {
  client.pause();
  client.on('error', () => client.destroy());
  for (const target of targets) {
    try {
      const node = await reach(target, ca);
      node.on('error', () => client.destroy());
      client.on('close', () => node.destroy());
      node.on('close', () => client.destroy());
      client.pipe(node);
      node.pipe(client);
      return;
    } catch (error) {
      print(`${target.host}:${target.port} does not answer: ${(error as Error).message}`);
    }
  }
  client.destroy();
}

function reach({ isTls, host, port }: Target, ca: Buffer | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = isTls
      ? connectTls({ host, port, servername: host, ...(ca && { ca }) }, () => resolve(socket))
      : connectTcp({ host, port, noDelay: true }, () => resolve(socket));
    socket.setTimeout(answerMs, () => socket.destroy(new Error(`no answer within ${answerMs / 1_000} s`)));
    socket.once('error', reject);
    socket.once(isTls ? 'secureConnect' : 'connect', () => socket.setTimeout(0));
  });
}

const answerMs = 5_000;
