import { callTools, liveRuntime, providerOf, RuntimeProcess, say } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { Nodes, openClusterWorld } from './cluster-world.js';

const world = await openClusterWorld();
const runtime = liveRuntime();
afterAll(() => world?.close());

/** What `groundcrew top` says, and how it ends. */
async function top(home: string, environment: Record<string, string>, ...flags: readonly string[]) {
  const process = new RuntimeProcess({
    flags: ['top', ...flags],
    home,
    environment: { GROUNDCREW_HOME: home, ...environment },
  });
  const { code } = await process.exited;
  return { code, stdout: process.stdout, stderr: process.stderr };
}

const look = callTools({ id: 'c1', name: 'look', arguments: {} });

test.skipIf(!world)(
  'top shows the nodes of a cluster by their leases, their sessions, turns, queues and labels',
  { timeout: 60_000 },
  async () => {
    if (!world) return;
    const nodes = new Nodes({ store: await world.postgres.newSchema(), nats: world.nats.url });
    const [first, second] = await Promise.all([nodes.start({ labels: ['volume:one'] }), nodes.start()]);
    const a = await nodes.connect(first);
    const b = await nodes.connect(second);
    const model = world.api.script(look, say('one'), ...Array.from({ length: 400 }, () => say('more')));
    const asking = await a.create({ ...providerOf(model), tools: [{ name: 'look', skipPermission: true }] });
    await asking.send('Look');
    await asking.next('external_tool.requested');
    await asking.send('And then');
    const talking = await b.create(providerOf(model));
    await a.resume(talking.sessionId, {});
    await talking.turn('Hello');
    await talking.call('session.schedule.add', { interval: '1d', prompt: 'Daily' });
    const schema = new URL(nodes.store).searchParams.get('options')?.replace('-c search_path=', '');
    const seen = () =>
      world.postgres.query(`SELECT 1 FROM ${schema}.gc_node WHERE pid IN (${first.pid}, ${second.pid})
        AND figures LIKE '%"sessions":1%' AND figures LIKE '%"clients":1%' AND (labels = '{}' OR figures LIKE '%"prompts":1%')`);
    await expect.poll(async () => (await seen()).length, { timeout: 20_000 }).toBe(2);
    const shown = top(nodes.work.path, { GROUNDCREW_STORE: nodes.store }, '--once', '--json');
    let isShown = false;
    const over = shown.finally(() => {
      isShown = true;
    });
    for (let count = 0; count < 300 && !isShown; count += 1) await talking.turn('More');
    const { code, stdout } = await over;
    expect(code).toBe(0);
    const said = JSON.parse(stdout);
    expect(said).toMatchObject({
      store: expect.stringMatching(/^postgres:\/\/127\.0\.0\.1:\d+\//),
      sessions: { total: 2, withWork: expect.any(Number), orphaned: 0, waiting: 0, scheduled: 1 },
    });
    expect(said.turnsPerSecond).toBeGreaterThan(0);
    expect(stdout).not.toContain('password');
    const nodeOf = (pid: number) => said.nodes.find((each: { pid: number }) => each.pid === pid);
    expect(nodeOf(first.pid)).toMatchObject({
      isNode: true,
      labels: ['volume:one'],
      owned: 1,
      withWork: 1,
      figures: { clients: 1, sessions: 1, running: 1, prompts: 1, questions: 1, isDraining: false },
    });
    expect(nodeOf(first.pid).leaseMs).toBeGreaterThan(0);
    expect(nodeOf(second.pid)).toMatchObject({ labels: [], owned: 1, figures: { clients: 1, sessions: 1 } });
    await second.signal('SIGKILL');
    const text = await top(nodes.work.path, { GROUNDCREW_STORE: nodes.store }, '--once');
    const row = text.stdout.split('\n').find((line) => line.includes(`:${first.pid} `));
    expect(row).toMatch(/ up +\d\.\d s .* volume:one$/);
    expect(text.stdout).toContain('2 sessions: ');
    await nodes.close();
  },
);

test('top shows the processes that have sessions of a home with SQLite, and says where there is none', async () => {
  const { session } = await runtime.session([say('one')]);
  await session.turn('Hello');
  const { code, stdout } = await top(runtime.home.path, {}, '--once', '--json');
  expect(code).toBe(0);
  const { nodes, sessions, turnsPerSecond } = JSON.parse(stdout);
  expect(sessions).toMatchObject({ withWork: 0, orphaned: 0, waiting: 0, scheduled: 0 });
  expect(sessions.total).toBeGreaterThan(0);
  expect(turnsPerSecond).toBe(0);
  expect(nodes).toHaveLength(1);
  expect(nodes[0]).toMatchObject({ isNode: false, withWork: 0 });
  const refused = await top(runtime.home.path, {}, '--home', 'nowhere', '--once');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no store at') });
  expect((await top(runtime.home.path, {}, '--once', '--interval', '5')).code).toBe(2);
});
