import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { RuntimeProcess, temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { until } from './mcp-world.js';

const home = temporaryDirectory();
const file = (name: string) => readFileSync(new URL(`../deploy/${name}`, import.meta.url), 'utf8');
let server: RuntimeProcess | undefined;
afterAll(async () => {
  await server?.stop();
  home.remove();
});

/** The status of a probe that calls the machine by this name. */
function probe(port: string, path: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request({ port, path, host: '127.0.0.1', headers: { host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('the command of the container starts, and answers the probes of all manifests', async () => {
  const command = JSON.parse(/^CMD (\[.*\])$/m.exec(file('Dockerfile'))?.[1] ?? '[]') as readonly string[];
  const flags = command.map((flag) => (/^\d+$/.test(flag) ? '0' : flag.replace('0.0.0.0', '127.0.0.1')));
  server = new RuntimeProcess({ flags, home: home.path, environment: { GROUNDCREW_TOKEN: 'of-the-tests' } });
  const { stdout } = server;
  expect(stdout).toBe('');
  await until(() => /HTTP door at \S+\n/.test(server?.stdout ?? ''));
  const port = /HTTP door at \S+:(\d+)/.exec(server.stdout)?.[1] ?? '';
  const manifests = file('kubernetes/groundcrew.yaml');
  const probes = [
    ...manifests.matchAll(/path: (\S+), port: web, httpHeaders: \[\{ name: Host, value: '(\S+)' \}\]/g),
  ];
  expect(probes.map(([, path]) => path)).toEqual(['/healthz', '/healthz', '/readyz']);
  for (const [, path = '', host = ''] of probes) expect(await probe(port, path, host)).toBe(200);
  expect(await probe(port, '/readyz', 'somewhere.example')).toBe(403);
  expect(/uri (\S+) hdr Host (\S+)/.exec(file('haproxy.cfg'))?.slice(1)).toEqual(['/readyz', 'localhost']);
});
