import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { typical } from './statistics.js';

/** How fast this machine is just now, in milliseconds; figures are compared as multiples of these. */
export interface Yardsticks {
  /** A Node process that does nothing, from start to end. */
  readonly start: number;
  /** Four kilobytes written and synced. */
  readonly sync: number;
  /** A small HTTP exchange on the loopback interface. */
  readonly http: number;
  /** A thousand small messages serialised and parsed. */
  readonly json: number;
}

/** Measures the machine itself; to be done close to what is compared with it. */
export async function measureYardsticks(root: string): Promise<Yardsticks> {
  return { start: await nodeStart(), sync: syncs(root), http: await exchanges(), json: messages() };
}

async function nodeStart(): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 9; i++) {
    const began = performance.now();
    await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'close');
    times.push(performance.now() - began);
  }
  return typical(times);
}

function syncs(root: string): number {
  const file = openSync(join(root, 'sync'), 'w');
  const page = Buffer.alloc(4096, 1);
  const times = Array.from({ length: 60 }, (_, index) => {
    const began = performance.now();
    writeSync(file, page, 0, page.length, (index % 8) * page.length);
    fdatasyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return typical(times);
}

async function exchanges(): Promise<number> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a server on a port has no other kind of address
  const times: number[] = [];
  for (let i = 0; i < 60; i++) {
    const began = performance.now();
    await (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' })).text();
    times.push(performance.now() - began);
  }
  server.closeAllConnections();
  server.close();
  return typical(times);
}

function messages(): number {
  const message = {
    type: 'assistant.message_delta',
    data: { messageId: 'm'.repeat(36), deltaContent: 'word ' },
  };
  const times = Array.from({ length: 30 }, () => {
    const began = performance.now();
    for (let i = 0; i < 1000; i++) JSON.parse(JSON.stringify({ ...message, id: String(i) }));
    return performance.now() - began;
  });
  return typical(times);
}
