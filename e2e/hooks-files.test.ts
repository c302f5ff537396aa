import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say, type WireSession } from '@groundcrew/testkit';
import { expect, test, vi } from 'vitest';
import { dataOf, endsOf } from './hooked.js';
import { testServer } from './mcp-world.js';

const runtime = liveRuntime();
const tools = [{ name: 'look', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: { at: 'here' } });

/** A project with these hooks. */
function project(hooks: object | string, file = 'hooks.json'): string {
  const directory = mkdtempSync(join(runtime.workingDirectory, 'project-'));
  mkdirSync(join(directory, '.github', 'hooks'), { recursive: true });
  const text = typeof hooks === 'string' ? hooks : JSON.stringify({ version: 1, hooks });
  writeFileSync(join(directory, file), text);
  return directory;
}

async function opened(workingDirectory: string, params: object = {}) {
  const model = runtime.script(look, say('done'));
  const session = await runtime.client.create({
    ...providerOf(model),
    tools,
    workingDirectory,
    enableFileHooks: true,
    ...params,
  });
  return { session, model };
}

/** Runs the prompt; the arguments that the tool was run with, and what the model read of it. */
async function looked({ session }: { session: WireSession }) {
  await session.send('Look');
  let answered = 0;
  await runtime.client.until(() => {
    for (const { requestId } of dataOf(session, 'external_tool.requested').slice(answered)) {
      answered += 1;
      void session.answerTool(requestId, { result: 'a tree' });
    }
    return session.events.some(({ type }) => type === 'session.idle') ? true : undefined;
  }, 'session.idle');
  const [result] = dataOf(session, 'tool.execution_complete');
  return {
    ran: dataOf(session, 'external_tool.requested').map((data) => data.arguments),
    result: result.result?.content ?? result.error.message,
  };
}

const json = (value: object) => `echo '${JSON.stringify(value)}'`;

test('without being enabled, hooks of files are not run', async () => {
  const directory = project({ preToolUse: [{ type: 'command', bash: 'exit 2' }] });
  const { ran } = await looked(await opened(directory, { enableFileHooks: undefined }));
  expect(ran).toEqual([{ at: 'here' }]);
});

test.each([
  [
    'exit code 2 denies, and what it wrote on stderr is the reason',
    'echo "not here" >&2; exit 2',
    /not here/,
  ],
  ['JSON denies', json({ permissionDecision: 'deny', permissionDecisionReason: 'by file' }), /by file/],
  ['another exit code denies: it failed', 'echo oops >&2; exit 1', /exit code 1: oops/],
  ['nonsense denies', 'echo sure', /something else than JSON/],
  ['an unknown decision denies', json({ permissionDecision: 'maybe' }), /otherwise than the protocol/],
  ['too much output denies', 'head -c 2000000 /dev/zero', /more than 1048576 bytes/],
  ['a command that does not exist denies', 'no-such-command-at-all', /exit code 127/],
])('%s', async (_, bash, reason) => {
  const { ran, result } = await looked(await opened(project({ preToolUse: [{ type: 'command', bash }] })));
  expect(ran).toEqual([]);
  expect(result).toMatch(/^Denied by preToolUse hook: /);
  expect(result).toMatch(reason);
});

test('a command that takes too long denies, and is ended with all that it started', async () => {
  const directory = project({
    preToolUse: [{ bash: 'sleep 1000 & echo $! > child.pid; wait', timeoutSec: 0.5 }],
  });
  const { ran, result } = await looked(await opened(directory));
  expect(ran).toEqual([]);
  expect(result).toContain('did not answer within 0.5 s');
  const pid = Number(readFileSync(join(directory, 'child.pid'), 'utf8'));
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 10_000 });
});

test('a command reads the call as JSON, may change it, and has its directory and variables', async () => {
  const directory = project({
    preToolUse: [
      {
        bash: `cat > seen.json; echo "$WHO $PWD" > seen.txt; ${json({ permissionDecision: 'allow', modifiedArgs: { at: 'there' } })}`,
        cwd: '.github',
        env: { WHO: 'me' },
        matcher: 'look',
      },
      { bash: 'exit 2', matcher: 'bash|edit' },
    ],
    postToolUse: [{ bash: json({ modifiedResult: { textResultForLlm: 'a bush', resultType: 'success' } }) }],
  });
  const { session, model } = await opened(directory);
  const { ran, result } = await looked({ session });
  expect(ran).toEqual([{ at: 'there' }]);
  expect(result).toBe('a bush');
  expect(JSON.parse(readFileSync(join(directory, '.github', 'seen.json'), 'utf8'))).toEqual({
    sessionId: session.sessionId,
    timestamp: expect.any(Number),
    cwd: directory,
    toolName: 'look',
    toolArgs: { at: 'here' },
  });
  expect(readFileSync(join(directory, '.github', 'seen.txt'), 'utf8')).toBe(
    `me ${join(directory, '.github')}\n`,
  );
  expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('a bush');
});

test('other points have their hooks in files too, and a failure there changes nothing', async () => {
  const directory = project(
    {
      userPromptSubmitted: [{ bash: `grep -q Not || ${json({ modifiedPrompt: 'Look twice' })}` }],
      sessionStart: [{ bash: 'exit 3' }],
      agentStop: [{ bash: 'grep -q \'"stop_hook_active":true\' && exit 0; echo "Not yet" >&2; exit 2' }],
      sessionEnd: [{ bash: json({ sessionSummary: 'from a file' }) }],
    },
    '.github/hooks/all.json',
  );
  const { session, model } = await opened(directory);
  model.play(say('done again'));
  await looked({ session });
  expect(dataOf(session, 'user.message').map(({ content }) => content)).toEqual(['Look twice', 'Not yet']);
  expect(endsOf(session, 'sessionStart')).toMatchObject([{ success: false }]);
  expect(endsOf(session, 'sessionEnd')).toMatchObject([{ output: { sessionSummary: 'from a file' } }]);
});

test('exit code 2 before a call leaves for a server denies it, also of an advisory command', async () => {
  const log = join(runtime.workingDirectory, 'hooked-server.jsonl');
  const directory = project({
    preMcpToolCall: [{ bash: 'echo "not this server" >&2; exit 2', onFailure: 'allow' }],
  });
  const model = runtime.script(callTools({ id: 'c1', name: 'srv-echo', arguments: {} }), say('done'));
  const session = await runtime.client.create({
    ...providerOf(model),
    mcpServers: { srv: testServer({ tools: ['echo'], log }) },
    workingDirectory: directory,
    enableFileHooks: true,
  });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.turn('Go');
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([
    { error: { message: 'Denied by preMcpToolCall hook: not this server' } },
  ]);
  expect(readFileSync(log, 'utf8')).not.toContain('tools/call');
});

test.each([
  ['l(o+)+k', false],
  ['(l|o)+ok|(x+x+)+y', false],
  ['(?!look).*', true],
  ['(o+)+x', true],
])('a matcher of any kind counts: %s', async (matcher, isRun) => {
  const { ran } = await looked(await opened(project({ preToolUse: [{ bash: 'exit 2', matcher }] })));
  expect(ran).toEqual(isRun ? [{ at: 'here' }] : []);
});

test('a matcher that takes for ever denies, and holds up nothing else', async () => {
  const name = `${'o'.repeat(60)}_`;
  const directory = project({ preToolUse: [{ bash: 'exit 0', matcher: '(o+)+x' }] });
  const model = runtime.script(callTools({ id: 'c1', name, arguments: {} }), say('done'));
  const session = await runtime.client.create({
    ...providerOf(model),
    tools: [{ name, skipPermission: true }],
    workingDirectory: directory,
    enableFileHooks: true,
  });
  await session.send('Go');
  await session.next('hook.start', ({ data }) => data.hookType === 'preToolUse');
  const before = performance.now();
  await runtime.client.call('ping', { message: 'still there' });
  expect(performance.now() - before).toBeLessThan(1000);
  await session.next('session.idle');
  expect(dataOf(session, 'external_tool.requested')).toEqual([]);
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([{ success: false }]);
});

test('a file that cannot be read forbids all tools, and clients learn where it is wrong', async () => {
  const directory = project('{\n  "version": 1,\n  "hooks": { "preTool": [] }\n}');
  const { session } = await opened(directory);
  const { ran, result } = await looked({ session });
  expect(ran).toEqual([]);
  const place = `${join(directory, 'hooks.json')}:3:14: hooks.preTool: unknown field`;
  expect(result).toContain(place);
  expect(dataOf(session, 'session.warning')).toMatchObject([
    { warningType: 'hooks', message: expect.stringContaining(place) },
  ]);
});

test('a session keeps its file hooks when it is resumed by a client that says nothing of them', async () => {
  const directory = project({ preToolUse: [{ bash: 'exit 2' }] });
  const process = runtime.spawn({ flags: ['--no-auto-update', '--port', '0'] });
  const client = await runtime.connect(process, { hasGaps: true });
  const model = runtime.script(say('hello'), look, say('done'));
  const before = await client.create({
    ...providerOf(model),
    tools,
    workingDirectory: directory,
    enableFileHooks: true,
  });
  await before.turn('Hello');
  await process.signal('SIGKILL');
  const session = await runtime.client.resume(before.sessionId, { ...providerOf(model), tools });
  const { ran } = await looked({ session });
  expect(ran).toEqual([]);
});

test('the home has hooks that hold for every session once the user enables them, whatever clients say', async () => {
  const home = mkdtempSync(join(runtime.home.path, 'home-'));
  writeFileSync(join(home, 'hooks.json'), JSON.stringify({ hooks: { preToolUse: [{ bash: 'exit 2' }] } }));
  writeFileSync(join(home, 'config.json'), JSON.stringify({ fileHooks: true }));
  const process = runtime.spawn({ home, flags: ['--no-auto-update', '--port', '0'] });
  const client = await runtime.connect(process);
  const model = runtime.script(look, say('done'));
  const session = await client.create({ ...providerOf(model), tools, enableFileHooks: false });
  await session.turn('Look');
  expect(dataOf(session, 'external_tool.requested')).toEqual([]);
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([{ success: false }]);
});

test('a configDir has hooks of its own, and --file-hooks enables them', async () => {
  const configDir = mkdtempSync(join(runtime.home.path, 'config-'));
  writeFileSync(
    join(configDir, 'hooks.json'),
    JSON.stringify({ hooks: { preToolUse: [{ bash: 'exit 2' }] } }),
  );
  const process = runtime.spawn({ flags: ['--no-auto-update', '--port', '0', '--file-hooks'] });
  const client = await runtime.connect(process);
  const model = runtime.script(look, say('done'));
  const session = await client.create({ ...providerOf(model), tools, configDir });
  await session.turn('Look');
  expect(dataOf(session, 'tool.execution_complete')).toMatchObject([
    { error: { message: 'Denied by preToolUse hook: No reason provided' } },
  ]);
});
