import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { freePort } from '@groundcrew/testkit';

/** An MCP server on a port, behind a front that notes one header of every request. */
export interface RemoteServer {
  /** Where the front listens. */
  readonly origin: string;
  /** The header of each request so far. */
  readonly seen: readonly unknown[];
  close(): void;
}

/** Starts the server that this program is, when it says that it listens. */
export async function startRemoteServer(
  program: string,
  { transport, header }: { readonly transport: 'streamableHttp' | 'sse'; readonly header: string },
): Promise<RemoteServer> {
  const port = await freePort();
  const child = spawn(process.execPath, [program, transport], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines = createInterface(child.stderr);
  await new Promise<void>((listening, reject) => {
    lines.on('line', (line) => {
      if (/(?:listening|running) on port/.test(line)) listening();
    });
    child.once('exit', (code) => reject(new Error(`The MCP server ended with ${code}`)));
  });
  const seen: unknown[] = [];
  const front = createServer((incoming, outgoing) => {
    const { method, url = '/', headers } = incoming;
    seen.push(headers[header]);
    const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    outgoing.once('close', () => onward.destroy());
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    seen,
    close() {
      child.kill('SIGKILL');
      front.closeAllConnections();
      front.close();
    },
  };
}
