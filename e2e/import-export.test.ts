import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, type ScriptedModel, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const tools = [{ name: 'look', skipPermission: true }];
const elsewhere = () => join(runtime.home.path, 'elsewhere');
const exported = (sessionId: string) =>
  runtime.client.call<{ directory: string; events: number }>('sessions.export', {
    sessionId,
    path: elsewhere(),
  });
const imported = (path: string, more: object = {}) =>
  runtime.client.call<{ sessionId: string; events: number; warnings: string[] }>('sessions.import', {
    path,
    ...more,
  });
const refusal = async (path: string, more: object = {}) =>
  (await runtime.client.failure('sessions.import', { path, ...more })).message;
const seen = (model: ScriptedModel) =>
  (model.requests.at(-1)?.body.messages ?? [])
    .slice(1)
    .map(({ role, content }) => `${role} ${String(content).replace(/^<current_datetime>.*\n\n/, '')}`);

/** Talks, looks at something, writes a plan and a file, and is compacted by half. */
async function play() {
  const { session, model } = await runtime.session(
    [
      callTools({ id: 'c1', name: 'look', arguments: { at: 'tree' } }),
      say('A tree.'),
      say('<overview>A tree was seen.</overview>'),
      say('Later.'),
    ],
    { tools },
  );
  await session.send('Look, and always say please');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'a green tree' });
  await session.untilIdle();
  await session.call('session.plan.update', { content: '1. Export' });
  await session.call('session.workspaces.createFile', { path: 'a.txt', content: 'kept' });
  await session.call('session.history.compact', {});
  await session.turn('And later?');
  await session.call('session.name.set', { name: 'Trees' });
  return { session, model };
}

describe('a session that is exported and imported', () => {
  test('has the same events to the letter, its files and its name, and its model reads on where it was', async () => {
    const { session, model } = await play();
    const { sessionId } = session;
    const before = await session.stored();
    model.play(say('Here.'));
    await runtime.client.call('session.destroy', { sessionId });
    const { directory, events } = await exported(sessionId);
    const text = readFileSync(join(directory, 'events.jsonl'), 'utf8');
    expect(events).toBe(text.split('\n').length - 1);
    expect(readdirSync(directory).sort()).toEqual([
      'checkpoints',
      'events.jsonl',
      'files',
      'groundcrew-state.json',
      'plan.md',
      'workspace.yaml',
    ]);
    expect(readFileSync(join(directory, 'workspace.yaml'), 'utf8')).toContain(
      `id: ${sessionId}\ncwd: ${runtime.workingDirectory}\n`,
    );
    await runtime.client.call('session.delete', { sessionId });
    expect(await imported(directory)).toEqual({ sessionId, events, warnings: [] });
    const again = await exported(sessionId).catch((error: Error) => error.message);
    expect(again).toContain('is there already');
    const other = await runtime.client.call<{ directory: string }>('sessions.export', {
      sessionId,
      path: join(elsewhere(), 'again'),
    });
    expect(readFileSync(join(other.directory, 'events.jsonl'), 'utf8')).toBe(text);
    const resumed = await runtime.client.resume(sessionId, { ...providerOf(model), tools });
    const { session: metadata } = await runtime.client.call<{ session: { name: string } }>(
      'session.getMetadata',
      { sessionId },
    );
    expect(metadata.name).toBe('Trees');
    expect((await resumed.stored()).slice(0, before.length)).toEqual(before);
    expect(await resumed.call('session.plan.read')).toMatchObject({ content: '1. Export' });
    expect(await resumed.call('session.workspaces.readFile', { path: 'a.txt' })).toEqual({ content: 'kept' });
    await resumed.turn('Where?');
    const [first = '', ...rest] = seen(model);
    expect(first).toContain('<user_message>\nLook, and always say please\n</user_message>');
    expect(first).toContain('A tree was seen.');
    expect(rest).toEqual(['user And later?', 'assistant Later.', 'user Where?']);
  });

  test('reads on by its events alone where the state is not there or of other events, also under another id', async () => {
    const { session, model } = await play();
    model.play(say('Here.'));
    const { directory } = await exported(session.sessionId);
    writeFileSync(join(directory, 'groundcrew-state.json'), '{"format":1,"state":{"agents":{}}}');
    expect(await refusal(directory)).toContain(`There is a session ${session.sessionId} already`);
    const { sessionId } = await imported(directory, { sessionId: 'copy' });
    const copy = await runtime.client.resume(sessionId, { ...providerOf(model), tools });
    const [start] = await copy.stored();
    expect(start?.data).toMatchObject({ sessionId: 'copy' });
    await copy.turn('Where?');
    const [first = '', ...rest] = seen(model);
    expect(first).toContain('Look, and always say please');
    expect(first).toContain('A tree was seen.');
    expect(rest).toEqual(['user And later?', 'assistant Later.', 'user Where?']);
  });
});

test('the state of a stranger brings no settings that decide where commands run, and one that is none is left aside', async () => {
  const { session, model } = await play();
  const { directory } = await exported(session.sessionId);
  const file = join(directory, 'groundcrew-state.json');
  const { format, state } = JSON.parse(readFileSync(file, 'utf8'));
  const settings = {
    sandbox: { executor: 'host' },
    fileHooks: true,
    skillDirectories: ['/srv'],
    titles: 'x',
  };
  const write = (more: object) =>
    writeFileSync(file, JSON.stringify({ format, state: { ...state, ...more } }));
  write({ fixed: { ...state.fixed, ...settings, clientMetadata: { kept: 'yes' } } });
  expect((await imported(directory, { sessionId: 'strange' })).warnings).toEqual([
    expect.stringMatching(/^These settings stay behind, .*: fileHooks, sandbox, skillDirectories$/),
  ]);
  const { directory: again } = await exported('strange');
  const { fixed } = JSON.parse(readFileSync(join(again, 'groundcrew-state.json'), 'utf8')).state;
  expect(fixed).toMatchObject({ clientMetadata: { kept: 'yes' }, name: 'Trees' });
  expect(Object.keys(fixed).filter((name) => name in settings)).toEqual([]);
  const [root] = Object.values<object>(state.agents);
  const odd = [
    { permissions: 5 },
    { agents: { '': { ...root, history: [{ role: 'user', eventId: 'x' }] } } },
  ];
  for (const [index, more] of odd.entries()) {
    write(more);
    const { warnings, sessionId } = await imported(directory, { sessionId: `odd-${index}` });
    expect(warnings).toEqual([expect.stringContaining('the conversation comes from the events')]);
    model.play(say('Here.'));
    const copy = await runtime.client.resume(sessionId, { ...providerOf(model), tools });
    await copy.turn('Where?');
    expect(seen(model).slice(1)).toEqual(['user And later?', 'assistant Later.', 'user Where?']);
  }
});

describe('a session directory of another runtime', () => {
  let last: string | null = null;
  const event = (type: string, data: object) => {
    const parentId = last;
    last = randomUUID();
    return JSON.stringify({ type, data, id: last, timestamp: '2026-01-01T00:00:10.000Z', parentId });
  };
  const directoryOf = (name: string, lines: readonly string[], settings?: string) => {
    const directory = join(elsewhere(), name);
    mkdirSync(join(directory, 'files'), { recursive: true });
    writeFileSync(join(directory, 'events.jsonl'), lines.join('\n'));
    if (settings !== undefined) writeFileSync(join(directory, 'workspace.yaml'), settings);
    writeFileSync(join(directory, 'plan.md'), 'The plan of elsewhere');
    return directory;
  };
  const begin = (sessionId: string) => {
    last = null;
    return [
      event('session.start', {
        sessionId,
        version: 1,
        producer: 'another-agent',
        copilotVersion: '0.0.0',
        startTime: '2026-01-01T00:00:10.000Z',
        context: { cwd: '/srv/project' },
      }),
      event('user.message', {
        content: 'See the walrus',
        transformedContent: 'See the walrus',
        delivery: 'idle',
      }),
      event('system.message', { role: 'system', content: 'Another prompt' }),
      event('assistant.turn_start', { turnId: '0', interactionId: 'i' }),
      event('assistant.message', {
        messageId: 'm',
        content: '',
        rte: false,
        toolRequests: [{ toolCallId: 'look-1', name: 'look', arguments: { at: 'walrus' }, type: 'function' }],
      }),
      event('tool.execution_start', { toolCallId: 'look-1', toolName: 'look', arguments: { at: 'walrus' } }),
      event('something.never_heard_of', { kept: true }),
      event('tool.execution_complete', {
        toolCallId: 'look-1',
        success: true,
        result: { content: 'a grey walrus', detailedContent: 'a grey walrus' },
      }),
      event('assistant.turn_end', { turnId: '0' }),
      event('assistant.message', { messageId: 'n', content: 'It is grey.', toolRequests: [] }),
    ];
  };

  test('is imported as it stands, and continued', async () => {
    const lines = begin('walrus');
    const settings = 'id: walrus\ncwd: /srv/project\nclient_name: sdk\nname: The walrus\nuser_named: true\n';
    const directory = directoryOf('walrus', [...lines, ''], settings);
    expect(await imported(directory)).toEqual({ sessionId: 'walrus', events: lines.length, warnings: [] });
    const model = runtime.script(say('Still grey.'));
    const session = await runtime.client.resume('walrus', { ...providerOf(model), tools });
    const stored = await session.stored();
    expect(stored.slice(0, lines.length)).toEqual(lines.map((line) => JSON.parse(line)));
    await session.turn('And now?');
    expect(seen(model)).toEqual([
      'user See the walrus',
      'assistant null',
      'tool a grey walrus',
      'assistant It is grey.',
      'user And now?',
    ]);
    expect(await session.call('session.plan.read')).toMatchObject({ content: 'The plan of elsewhere' });
    const { sessions } = await runtime.client.call<{ sessions: { sessionId: string; name: string }[] }>(
      'session.list',
    );
    expect(sessions.find(({ sessionId }) => sessionId === 'walrus')?.name).toBe('The walrus');
    expect(story(await session.stored()).at(-2)).toBe('assistant.message "Still grey."');
  });

  test('whose last line was broken off is imported without it; a broken line elsewhere is named', async () => {
    const lines = begin('broken');
    const torn = directoryOf('torn', [...lines, '{"type":"assistant.mess']);
    expect(await imported(torn)).toEqual({
      sessionId: 'broken',
      events: lines.length,
      warnings: [expect.stringContaining(`Line ${lines.length + 1} of `)],
    });
    const other = begin('other');
    const middle = directoryOf('middle', [...other.slice(0, 3), 'no event', ...other.slice(3)]);
    expect(await refusal(middle)).toContain('Line 4 of ');
    const { sessions } = await runtime.client.call<{ sessions: { sessionId: string }[] }>('sessions.list');
    expect(sessions.map(({ sessionId }) => sessionId)).not.toContain('other');
  });

  test('whose lines are no events of their kind is refused with the line; what comes twice is left out', async () => {
    const odd = async (name: string, line: string) =>
      refusal(
        directoryOf(name, [...begin(name), line, event('session.info', { infoType: 'x', message: 'x' })]),
      );
    const shape = (data: object, more: object = {}) =>
      JSON.stringify({ ...JSON.parse(event('user.message', data)), ...more });
    expect(await odd('shape-1', shape({ content: 5 }))).toMatch(
      /Line 11 of .* user\.message .*content is wrong/,
    );
    const hi = { content: 'Hi' };
    expect(await odd('shape-2', shape(hi, { timestamp: 'soon' }))).toMatch(/Line 11 of .* event of no time/);
    expect(await odd('shape-3', shape(hi, { agentId: 5 }))).toMatch(
      /Line 11 of .* is no event: user\.message/,
    );
    const lines = begin('twice');
    const texts = ['a\u2028b', 'c\rd\u0085e'].map((content) => shape({ content }));
    const path = join(elsewhere(), 'twice.jsonl');
    writeFileSync(path, `\ufeff${[...lines, ...lines.slice(3, 5), ...texts].join('\r\n')}\r\n`);
    expect(await imported(path)).toEqual({
      sessionId: 'twice',
      events: lines.length + 2,
      warnings: [expect.stringContaining('Line 11 of '), expect.stringContaining('Line 12 of ')],
    });
    const twice = await runtime.client.resume('twice', { ...providerOf(runtime.script()), tools });
    expect((await twice.stored()).slice(0, lines.length + 2)).toEqual(
      [...lines, ...texts].map((line) => JSON.parse(line)),
    );
    expect(await refusal('/dev/zero')).toContain('/dev/zero is no file');
    const nowhere = await runtime.client.failure('sessions.export', { sessionId: 'twice', path: '/proc/x' });
    expect(nowhere.message).toContain('/proc/x cannot be made');
  });

  test('is refused in words where there is none, or where its id leads elsewhere', async () => {
    expect(await refusal(join(elsewhere(), 'nowhere'))).toContain('There is nothing at ');
    expect(await refusal('somewhere')).toContain('path must be absolute, not somewhere');
    const { message } = await runtime.client.failure('sessions.export', { sessionId: 'x', path: '../x' });
    expect(message).toContain('path must be absolute, not ../x');
    expect(await refusal(runtime.workingDirectory)).toContain('There is no events.jsonl in ');
    expect(await refusal(directoryOf('empty', ['']))).toContain('say under which id');
    const wild = directoryOf('wild', begin('../../wild'));
    expect(await refusal(wild)).toContain('A session cannot have the id ../../wild');
    expect(existsSync(join(runtime.home.path, '..', 'wild'))).toBe(false);
  });
});
