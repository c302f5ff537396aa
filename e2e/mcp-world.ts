import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('fixtures/mcp-server.mjs', import.meta.url));

/** How the server of the tests misbehaves. */
export interface ServerScript {
  readonly silentAt?: string;
  readonly dieAt?: string;
  readonly answerAt?: Readonly<Record<string, string>>;
  /** How often it says so. */
  readonly times?: number;
  readonly delay?: number;
  readonly tools?: readonly string[];
  readonly version?: string;
  readonly description?: string;
  readonly annotations?: object;
  readonly stderr?: string;
  readonly exitCode?: number;
  readonly first?: string;
  /** What it writes before it lists its tools. */
  readonly after?: string;
  /** Where it notes what it was sent. */
  readonly log?: string;
}

/** The configuration of a server of the tests. */
export function testServer(script: ServerScript = {}, config: object = {}) {
  return { command: process.execPath, args: [program, JSON.stringify(script)], ...config };
}

/** A port that nothing listens at. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Whether a process runs; one that ended and waits for its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves when something has become true; it is looked at again and again. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 10));
}
