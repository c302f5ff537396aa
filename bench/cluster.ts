import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findNats,
  findPostgres,
  openNats,
  openPostgres,
  RuleModel,
  RuntimeProcess,
  WireClient,
  type WireSession,
} from '@groundcrew/testkit';

/** Figures of several nodes on one machine, with PostgreSQL, NATS, the model and the clients beside them. */
const source = findPostgres(process.env, { downloaded: true });
const bus = await findNats(process.env, { downloaded: true });
if (typeof source === 'string' || typeof bus === 'string') throw new Error(`${source} ${bus}`);
const postgres = await openPostgres(source, { fsync: 'on' });
const nats = await openNats(bus);
const model = await RuleModel.open(() => ({ chunks: ['done'] }));
const folder = mkdtempSync(join(tmpdir(), 'groundcrew-bench-'));
const processes: RuntimeProcess[] = [];

async function startNode(store: string): Promise<RuntimeProcess> {
  const node = new RuntimeProcess({
    flags: ['--headless', '--port', '0', '--log-level', 'error'],
    home: mkdtempSync(join(folder, 'home-')),
    workingDirectory: folder,
    environment: { GROUNDCREW_STORE: store, GROUNDCREW_NATS: nats.url },
  });
  processes.push(node);
  await node.port();
  return node;
}

const connect = async (node: RuntimeProcess) => new WireClient(await node.connect());

/** Milliseconds of each of so many turns, one after the other. */
async function turns(session: WireSession, count: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const began = performance.now();
    await session.turn('Go on');
    times.push(performance.now() - began);
  }
  return times;
}

const at = (times: readonly number[], share: number) =>
  ([...times].sort((a, b) => a - b)[Math.floor(times.length * share)] ?? 0).toFixed(2);

/** Turns by local and by forwarded clients in turn, so that both have the same machine. */
async function forwarding(): Promise<void> {
  const store = await postgres.newSchema();
  const [a, b] = [await startNode(store), await startNode(store)];
  const here = await (await connect(a)).create(model.settings);
  const other = await (await connect(a)).create(model.settings);
  const there = await (await connect(b)).resume(other.sessionId, {});
  await turns(here, 20);
  await turns(there, 20);
  const local: number[] = [];
  const forwarded: number[] = [];
  for (let round = 0; round < 60; round += 1) {
    local.push(...(await turns(here, 5)));
    forwarded.push(...(await turns(there, 5)));
  }
  const both = (share: number) =>
    `${at(local, share)} and ${at(forwarded, share)} ms (${(Number(at(forwarded, share)) - Number(at(local, share))).toFixed(2)} more)`;
  console.log(`a local turn and a forwarded one: p50 ${both(0.5)}, lower quartile ${both(0.25)}`);
}

/** Turns of many sessions at once, spread over so many nodes. */
async function throughput(count: number): Promise<void> {
  const store = await postgres.newSchema();
  const nodes = await Promise.all(Array.from({ length: count }, () => startNode(store)));
  const clients = await Promise.all(nodes.map(connect));
  const sessions = await Promise.all(
    Array.from({ length: 24 }, (_, index) => (clients[index % count] as WireClient).create(model.settings)),
  );
  await Promise.all(sessions.map((session) => turns(session, 2)));
  const began = performance.now();
  const before = processorSeconds(nodes);
  const each = 20;
  await Promise.all(sessions.map((session) => turns(session, each)));
  const seconds = (performance.now() - began) / 1_000;
  const after = processorSeconds(nodes);
  const share = Object.entries(after).map(
    ([name, used]) => `${name} ${(((used - (before[name] ?? 0)) / seconds) * 100).toFixed(0)} %`,
  );
  console.log(
    `${count} nodes: ${((sessions.length * each) / seconds).toFixed(0)} turns/s; of a core: ${share.join(', ')}`,
  );
  await Promise.all(nodes.map((node) => node.stop()));
}

/** What has been used of the processors so far: by all nodes, by all servers of these names, and by this process. */
function processorSeconds(nodes: readonly RuntimeProcess[]): Record<string, number> {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const named = (wanted: string) =>
    pids.reduce((sum, pid) => sum + (nameOf(pid) === wanted ? secondsOf(pid) : 0), 0);
  const { user, system } = process.cpuUsage();
  return {
    nodes: nodes.reduce((sum, { pid }) => sum + secondsOf(String(pid)), 0),
    PostgreSQL: named('postgres'),
    NATS: named('nats-server'),
    'clients and model': (user + system) / 1_000_000,
  };
}

function nameOf(pid: string): string {
  return statOf(pid).split(/[()]/)[1] ?? '';
}

function secondsOf(pid: string): number {
  const fields = statOf(pid).split(') ')[1]?.split(' ') ?? [];
  // In hundredths of a second, of the process and of its children that have ended.
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field) / 100, 0);
}

function statOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // It has ended meanwhile.
    return '';
  }
}

/** Idle sessions in the database, and idle clients at one node. */
async function crowd(): Promise<void> {
  const store = await postgres.newSchema();
  const schema = new URL(store).searchParams.get('options')?.replace('-c search_path=', '') ?? '';
  const node = await startNode(store);
  const first = await connect(node);
  const session = await first.create(model.settings);
  await turns(session, 5);
  const alone = await turns(session, 40);
  const columns =
    'epoch, seq, version, has_work, user_turns, modified_at, cwd, git_root, repository, branch, head';
  await postgres.query(
    `INSERT INTO ${schema}.gc_session (id, ${columns}) SELECT 'idle-' || n, ${columns} FROM ${schema}.gc_session, generate_series(1, 10000) n`,
  );
  const before = await memoryOf(node);
  const clients = await Promise.all(Array.from({ length: 1_000 }, () => connect(node)));
  await Promise.all(clients.map((client) => client.call('ping', {})));
  const crowded = await turns(session, 40);
  const began = performance.now();
  const { sessions } = await first.call<{ sessions: object[] }>('session.list', {});
  const listing = performance.now() - began;
  console.log(
    `10,000 idle sessions and 1,000 clients: a turn p50 ${at(crowded, 0.5)} ms (alone ${at(alone, 0.5)} ms), ` +
      `${((await memoryOf(node)) - before).toFixed(0)} MB more for the clients, session.list of ${sessions.length} in ${listing.toFixed(0)} ms`,
  );
  await Promise.all(clients.map((client) => client.close()));
}

/** Resident memory in MB. */
async function memoryOf({ pid }: RuntimeProcess): Promise<number> {
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

try {
  await forwarding();
  for (const count of [1, 2, 3]) await throughput(count);
  await crowd();
} finally {
  await Promise.all(processes.map((node) => node.stop()));
  await Promise.all([model.close(), nats.close(), postgres.close()]);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
process.exit();
