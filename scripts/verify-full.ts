import { spawnSync } from 'node:child_process';
import { performance } from 'node:perf_hooks';

/** What takes minutes, or needs more than a clone: run after `verify`, one after the other, each by its own script. */
const steps: readonly {
  readonly name: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}[] = [
  { name: 'verify', command: ['run', '--silent', 'verify'], environment: { FULL_TESTS: '1' } },
  { name: 'chaos', command: ['run', '--silent', 'chaos'] },
  { name: 'mutations', command: ['run', '--silent', 'chaos', '--', '--mutations'] },
  ...['wire', 'commands', 'links', 'deletion', 'freeze'].map((attack) => ({
    name: `attack: ${attack}`,
    command: ['run', '--silent', 'attack', '--', '--only', attack],
  })),
  {
    name: 'PostgreSQL',
    command: ['run', '--silent', 'test:postgres'],
    environment: { POSTGRES_TESTS: 'full' },
  },
  { name: 'browser', command: ['run', '--silent', 'test:browser'] },
  {
    name: '100 sessions with 5 MCP servers each',
    command: ['run', '--silent', 'bench:mcp', '--', '--only', 'lives'],
  },
  {
    name: 'several nodes',
    command: ['run', '--silent', 'test:cluster'],
    environment: { POSTGRES_TESTS: 'full', CLUSTER_TESTS: 'full' },
  },
  {
    name: 'several nodes: chaos',
    command: ['run', '--silent', 'chaos:cluster'],
    environment: { POSTGRES_TESTS: 'full', CLUSTER_TESTS: 'full' },
  },
  { name: 'deploy files', command: ['run', '--silent', 'check:deploy'] },
  { name: 'MCP conformance', command: ['run', '--silent', 'conformance'] },
  { name: 'an ACP client of others', command: ['run', '--silent', 'check:acp'] },
  { name: 'docs site', command: ['run', '--silent', 'site'] },
  { name: 'packages', command: ['run', '--silent', 'check:package'] },
  { name: 'packed and installed', command: ['run', '--silent', 'check:packed'] },
];

const failed: string[] = [];
for (const { name, command, environment } of steps) {
  const began = performance.now();
  const { status } = spawnSync('npm', command, { stdio: 'inherit', env: { ...process.env, ...environment } });
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${name} ${seconds} s`);
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? 'All of it holds.' : `Failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
