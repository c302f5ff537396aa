import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { RuleModel } from '@groundcrew/testkit';
import { processesOf, survivorsOf } from '../chaos/survivors.js';
import { type Figure, reportOf } from './budgets/report.js';
import { chosen } from './chosen.js';
import { timed, typical } from './statistics.js';
import { openRuntime } from './watched-runtime.js';

const usage = `Measures what MCP servers cost, and what is left of them; fails when a bound is missed.

  npm run bench:mcp                    all of it: turns, starts, and 100 sessions with 5 servers each
  npm run bench:mcp -- --only lives    turns, starts or lives
  npm run bench:mcp -- --sessions N    other numbers
  npm run bench:mcp -- --servers N
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    sessions: { type: 'string', default: '100' },
    servers: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
});

const server = fileURLToPath(new URL('../e2e/fixtures/mcp-server.mjs', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'groundcrew-mcp-'));
const servers = Number(values.servers);
/** Sessions at a time. */
const atOnce = 5;
/** More megabytes than this are not the collector's mood. */
const mostKept = 3;

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;
rmSync(root, { recursive: true, force: true, maxRetries: 5 });
process.exit();

async function main(): Promise<boolean> {
  const parts = { turns, starts, lives: () => lives(Number(values.sessions)) };
  const figures: Figure[] = [];
  for (const [, measure] of chosen(parts, values.only ?? [])) figures.push(...(await measure()));
  console.log(reportOf(figures));
  return figures.length > 0 && figures.every(({ isKept }) => isKept !== false);
}

/** One server that is slow to start, and others that are not. */
function commands(delay = 0): readonly (readonly string[])[] {
  return Array.from({ length: servers }, (_, index) => {
    const script = { tools: ['echo', 'cwd', 'pid'], delay: index === 0 ? delay : 0 };
    return [process.execPath, server, JSON.stringify(script)];
  });
}

function mcpServers(delay = 0): Readonly<Record<string, object>> {
  return Object.fromEntries(
    commands(delay).map(([command, ...args], index) => [`s${index}`, { command, args }]),
  );
}

/** What servers that run add to each turn. */
async function turns(): Promise<readonly Figure[]> {
  const model = await RuleModel.open(() => ({ chunks: ['ok'] }));
  const runtime = await openRuntime(root);
  const bare = await runtime.client.create({ ...model.settings });
  const served = await runtime.client.create({ ...model.settings, mcpServers: mcpServers() });
  const times = { bare: [] as number[], served: [] as number[] };
  for (let turn = 0; turn < 220; turn++) {
    const took = { bare: await timed(() => bare.turn('Go')), served: await timed(() => served.turn('Go')) };
    if (turn < 20) continue;
    times.bare.push(took.bare);
    times.served.push(took.served);
  }
  await runtime.close();
  await model.close();
  const over = typical(times.served) - typical(times.bare);
  return [
    {
      what: `${servers} servers that run: a turn over one without (${typical(times.bare).toFixed(2)} ms), typical of 200`,
      figure: `${over.toFixed(2)} ms`,
      isKept: over <= 3,
    },
  ];
}

/** How long the first turn takes, beside what the slowest server needs by itself while the others start. */
async function starts(): Promise<readonly Figure[]> {
  const delay = 300;
  const model = await RuleModel.open(() => ({ chunks: ['ok'] }));
  const runtime = await openRuntime(root);
  // The first session loads what speaks with servers.
  const first = await runtime.client.create({ ...model.settings, mcpServers: mcpServers() });
  await first.turn('Go');
  await first.call('session.destroy');
  const times = { slowest: [] as number[], turn: [] as number[] };
  for (let run = 0; run < 11; run++) {
    times.slowest.push(await slowest(delay));
    const began = performance.now();
    const session = await runtime.client.create({ ...model.settings, mcpServers: mcpServers(delay) });
    await session.turn('Go');
    times.turn.push(performance.now() - began);
    await session.call('session.destroy');
  }
  await runtime.close();
  await model.close();
  const over = typical(times.turn) - typical(times.slowest);
  return [
    {
      what: `a new session's first turn with ${servers} servers, over the slowest of them (${typical(times.slowest).toFixed(0)} ms), typical of 11`,
      figure: `${over.toFixed(0)} ms`,
      isKept: over <= 100,
    },
  ];
}

/** Milliseconds until the last of the servers has listed its tools, without anything of ours between. */
async function slowest(delay: number): Promise<number> {
  const began = performance.now();
  const ended = await Promise.all(
    commands(delay).map(async ([command = '', ...args]) => {
      const child = spawn(command, args, {
        stdio: ['pipe', 'pipe', 'ignore'],
        env: { PATH: process.env.PATH },
      });
      const say = (message: object) =>
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      const params = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'b', version: '1' },
      };
      say({ id: 1, method: 'initialize', params });
      await lines.next();
      say({ method: 'notifications/initialized' });
      say({ id: 2, method: 'tools/list' });
      await lines.next();
      const took = performance.now() - began;
      child.kill('SIGKILL');
      await once(child, 'close');
      return took;
    }),
  );
  return Math.max(...ended);
}

/** Sessions come and go, each with its servers: what is left of them in processes, open files and memory. */
async function lives(count: number): Promise<readonly Figure[]> {
  const model = await RuleModel.open(() => ({ chunks: ['ok'] }));
  const runtime = await openRuntime(root);
  const { client, pid, home } = runtime;
  const one = async () => {
    const session = await client.create({ ...model.settings, mcpServers: mcpServers() });
    await session.turn('Go');
    const { servers: listed } = await session.call<{ servers: readonly { status: string }[] }>(
      'session.mcp.list',
    );
    await session.call('session.destroy');
    return listed.filter(({ status }) => status === 'connected').length;
  };
  const many = async (sessions: number) => {
    let connected = 0;
    for (let at = 0; at < sessions; at += atOnce) {
      const batch = Array.from({ length: Math.min(atOnce, sessions - at) }, one);
      connected += (await Promise.all(batch)).reduce((sum, each) => sum + each, 0);
    }
    return connected;
  };
  await many(2 * atOnce);
  const before = {
    files: await settled(() => filesOf(pid)),
    children: processesOf(home).length,
    live: await liveOf(runtime),
  };
  const connected = await many(count);
  const after = {
    files: await settled(() => filesOf(pid), before.files),
    children: processesOf(home).length,
    live: await liveOf(runtime),
  };
  await runtime.close();
  await model.close();
  const kept = after.live - before.live;
  const left = after.children - before.children;
  const survivors = (await survivorsOf(home)).length;
  return [
    {
      what: `servers that were reached in ${count} sessions with ${servers} each`,
      figure: String(connected),
      isKept: connected === count * servers,
    },
    { what: 'processes that are left of them', figure: String(left), isKept: left === 0 },
    { what: 'and when the runtime was killed', figure: String(survivors), isKept: survivors === 0 },
    {
      what: `open files, ${before.files} before`,
      figure: String(after.files),
      isKept: after.files <= before.files,
    },
    {
      what: `memory in use over the ${before.live.toFixed(1)} MB before`,
      figure: `${kept.toFixed(2)} MB`,
      isKept: kept <= mostKept,
    },
  ];
}

function filesOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** Connections to the model are closed a little later: what is left in the end counts. */
async function settled(look: () => number, goal = 0): Promise<number> {
  let least = look();
  for (let looks = 0; looks < 100 && least > goal; looks++) {
    await pause(100);
    least = Math.min(least, look());
  }
  return least;
}

/** Megabytes in use. What was freed shortly before may still count at the first look. */
async function liveOf(runtime: Awaited<ReturnType<typeof openRuntime>>): Promise<number> {
  await runtime.watch();
  return (await runtime.watch()).live;
}
