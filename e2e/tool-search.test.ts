import { callTools, liveRuntime, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime();
const topics = [
  'weather',
  'calendar',
  'mail',
  'tickets',
  'music',
  'maps',
  'stocks',
  'news',
  'files',
  'photos',
];
const verbs = ['get', 'list', 'create', 'delete', 'update'];
const things = ['forecast', 'entry', 'report', 'folder', 'alarm', 'summary'];
const tools = verbs.flatMap((verb) => things.map((thing) => `${verb}_${thing}`));
const tenServers = Object.fromEntries(
  topics.map((topic) => [
    topic,
    testServer({ tools, description: `Works on ${topic} of the user. `.repeat(8) }),
  ]),
);

const names = (request: {
  readonly body: { readonly tools?: readonly { readonly function: { readonly name: string } }[] };
}) => (request.body.tools ?? []).map((tool) => tool.function.name);

test('300 tools of ten servers are found by words, and cost an eighth of what they would', async () => {
  const all = await runtime.session([say('hi')], { mcpServers: tenServers, toolSearch: { enabled: false } });
  await all.session.turn('Go');
  const some = await runtime.session(
    [
      callTools({ id: 'c1', name: 'tool_search', arguments: { query: 'weather forecast get' } }),
      callTools({ id: 'c2', name: 'weather-get_forecast', arguments: { city: 'Paris' } }),
      say('done'),
    ],
    { mcpServers: tenServers },
  );
  await some.session.call('session.permissions.setApproveAll', { enabled: true });
  await some.session.turn('Go');
  const [first, second, third] = some.model.requests;
  if (!first || !second || !third || !all.model.requests[0]) throw new Error('too few calls');
  expect(names(all.model.requests[0]).filter((name) => name.includes('-'))).toHaveLength(300);
  expect(names(first).filter((name) => name.includes('-'))).toEqual([]);
  expect(names(first)).toContain('tool_search');
  const ofServers = ({ body }: (typeof some.model.requests)[number]) =>
    JSON.stringify((body.tools ?? []).filter(({ function: { name } }) => /-|^tool_search$/.test(name)))
      .length;
  expect(ofServers(first)).toBeLessThan(ofServers(all.model.requests[0]) / 8);
  expect(names(second)).toContain('weather-get_forecast');
  expect(String(third.body.messages.at(-1)?.content)).toBe('{"city":"Paris"}');
  const { tools: metadata } = await some.session.call<{ tools: readonly Record<string, unknown>[] }>(
    'session.tools.getCurrentMetadata',
  );
  expect(metadata.find(({ name }) => name === 'mail-list_folder')).toMatchObject({
    mcpServerName: 'mail',
    mcpToolName: 'list_folder',
    deferLoading: true,
  });
});

test('the offline model finds the tool that it is to use', async () => {
  const session = await runtime.client.create({ mcpServers: tenServers, model: 'offline' });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  const events = await session.turn(
    "Use the tool stocks-get_report with symbol 'ACME', then reply with the result",
  );
  const called = events.filter(({ type }) => type === 'tool.execution_start').map(({ data }) => data);
  expect(called).toMatchObject([
    { toolName: 'tool_search', arguments: { query: 'stocks-get_report' } },
    { toolName: 'stocks-get_report', mcpServerName: 'stocks' },
  ]);
});

test('a threshold of the app counts, and a server or a tool that is never deferred stays', async () => {
  const { session, model } = await runtime.session([say('hi')], {
    mcpServers: {
      a: testServer({ tools: ['echo', 'pid'] }),
      b: testServer({ tools: ['echo'] }, { deferTools: 'never' }),
    },
    tools: [{ name: 'mine' }, { name: 'kept', defer: 'never' }],
    toolSearch: { deferThreshold: 2 },
  });
  await session.turn('Go');
  const offered = model.requests.flatMap(names);
  expect(offered.filter((name) => /^(a-|b-|mine|kept|tool_search)/.test(name))).toEqual([
    'b-echo',
    'kept',
    'tool_search',
  ]);
});
