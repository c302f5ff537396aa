import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';

interface Step {
  readonly name: string;
  /** The script of package.json, and what it is given. */
  readonly script: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const services = { POSTGRES_TESTS: 'full', CLUSTER_TESTS: 'full' };

/** Steps that measure time, or keep every core busy: each has the machine to itself. */
const alone: readonly Step[] = [
  { name: 'verify, with the full forms', script: ['verify'], environment: { FULL_TESTS: '1' } },
  { name: 'attack: freeze', script: ['attack', '--only', 'freeze'] },
  { name: '100 sessions with 5 MCP servers each', script: ['bench:mcp', '--only', 'lives'] },
  { name: 'browser', script: ['test:browser'] },
];

/** Steps that only have to hold: they run side by side, the longest first. */
const together: readonly Step[] = [
  { name: 'chaos', script: ['chaos'] },
  { name: 'mutations', script: ['chaos', '--mutations'] },
  { name: 'several nodes: chaos', script: ['chaos:cluster'], environment: services },
  { name: 'several nodes', script: ['test:cluster'], environment: services },
  { name: 'PostgreSQL', script: ['test:postgres'], environment: { POSTGRES_TESTS: 'full' } },
  ...['commands', 'wire', 'links', 'deletion'].map((attack) => ({
    name: `attack: ${attack}`,
    script: ['attack', '--only', attack],
  })),
  { name: 'docs site', script: ['site'] },
  { name: 'MCP conformance', script: ['conformance'] },
  { name: 'packed and installed', script: ['check:packed'] },
  { name: 'packages', script: ['check:package'] },
  { name: 'ACP client', script: ['check:acp'] },
  { name: 'deploy files', script: ['check:deploy'] },
];

const began = performance.now();
const failed: string[] = [];
for (const step of alone) await run(step);
const waiting = [...together];
await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, runLane));
console.log(`${((performance.now() - began) / 60_000).toFixed(1)} minutes`);
console.log(failed.length === 0 ? 'All of it holds.' : `Failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function runLane(): Promise<void> {
  for (let step = waiting.shift(); step; step = waiting.shift()) await run(step);
}

/** The output of a step is printed when it has ended, so that steps side by side do not mix theirs. */
async function run({ name, script: [script = '', ...args], environment }: Step): Promise<void> {
  const started = performance.now();
  console.log(`begun  ${name}`);
  const child = spawn('npm', ['run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  process.stdout.write(`\n${Buffer.concat(output)}`);
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} ${seconds} s`);
  if (code !== 0) failed.push(name);
}
