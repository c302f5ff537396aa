import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  type ScriptedReply,
  say,
  story,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();

/** A directory of its own for each test. */
function workIn(name: string): string {
  const directory = join(runtime.workingDirectory, name);
  mkdirSync(directory);
  return directory;
}

const create = (path: string, text: string) =>
  callTools({ id: `c${path.length}${text.length}`, name: 'create', arguments: { path, file_text: text } });
const edit = (path: string, from: string, to: string) =>
  callTools({ id: `e${from}${to}`, name: 'edit', arguments: { path, old_str: from, new_str: to } });

/** A session that may do all it wants, and tracks what it writes. */
async function tracked(directory: string, ...replies: readonly ScriptedReply[]) {
  const { session, model } = await runtime.session(replies, {
    workingDirectory: directory,
    enableFileChangeTracking: true,
  });
  await session.call('session.permissions.setMode', { mode: 'allow-all' });
  return { session, model };
}

interface Points {
  readonly points: readonly { readonly eventId: string; readonly userMessage: string }[];
}
const pointsOf = (session: WireSession) => session.call<Points>('session.history.listRewindPoints');
const eventOf = async (session: WireSession, prompt: string) =>
  (await pointsOf(session)).points.find(({ userMessage }) => userMessage === prompt)?.eventId ?? '';
const seen = (model: ScriptedModel) =>
  (model.requests.at(-1)?.body.messages ?? [])
    .slice(1)
    .map(({ role, content }) => `${role} ${String(content).replace(/^<current_datetime>.*\n\n/, '')}`);
const prompts = async (session: WireSession) =>
  (await session.stored()).flatMap(({ type, data }) =>
    type === 'user.message' ? [(data as { content: string }).content] : [],
  );

describe('a session that is cut at an event', () => {
  test('goes on as if that and what followed had never been; ids chain on, and the next process agrees', async () => {
    const { session, model } = await runtime.session([say('one'), say('two'), say('three'), say('four')]);
    await session.turn('First');
    const before = await session.stored();
    await session.turn('Second');
    await session.turn('Third');
    const all = await session.stored();
    const target = all.find(
      ({ type, data }) => type === 'user.message' && JSON.stringify(data).includes('Second'),
    );
    const eventsRemoved = all.length - before.length;
    expect(await session.call('session.history.truncate', { eventId: target?.id })).toEqual({
      eventsRemoved,
      checkpointCleanupFailed: false,
    });
    const rewound = await session.next('session.snapshot_rewind');
    expect(rewound).toMatchObject({ ephemeral: true, data: { upToEventId: target?.id, eventsRemoved } });
    expect(await session.stored()).toEqual(before);
    expect(await session.failure('session.history.truncate', { eventId: target?.id })).toMatchObject({
      message: `Request session.history.truncate failed with message: Event ${target?.id} not found in session`,
    });
    await session.turn('Fourth');
    expect(seen(model)).toEqual(['user First', 'assistant one', 'user Fourth']);
    const after = await session.stored();
    expect(after[before.length]?.parentId).toBe(before.at(-1)?.id);
    const process = runtime.spawn({ flags: ['--stdio'] });
    await session.call('session.destroy');
    const client = await runtime.connect(process);
    const again = await client.resume(session.sessionId, providerOf(model));
    expect((await again.stored()).slice(0, after.length)).toEqual(after);
    expect(await prompts(again)).toEqual(['First', 'Fourth']);
    const metadata = await client.call<{ session: { summary: string } }>('session.getMetadata', {
      sessionId: session.sessionId,
    });
    expect(metadata.session.summary).toBe('First');
  });

  test('was cut for good although the process was killed right after the answer', async () => {
    const model = runtime.script(say('one'), say('two'), say('three'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(process);
    const session = await client.create(providerOf(model));
    await session.turn('First');
    await session.turn('Second');
    await session.call('session.history.truncate', { eventId: await eventOf(session, 'Second') });
    await process.signal('SIGKILL');
    const again = await runtime.client.resume(session.sessionId, providerOf(model));
    expect(await prompts(again)).toEqual(['First']);
    await again.turn('Third');
    expect(seen(model)).toEqual(['user First', 'assistant one', 'user Third']);
  });

  test('forgets what recall would find there, keeps what was spent, and refuses while it works', async () => {
    const ask = callTools({ id: 'r1', name: 'recall', arguments: { query: 'walrus' } });
    const look = callTools({ id: 'l1', name: 'look', arguments: {} });
    const { session, model } = await runtime.session(
      [say('one'), say('walrus'), ask, say('none'), look, say('end')],
      {
        tools: [{ name: 'look', skipPermission: true }],
      },
    );
    await session.turn('First');
    await session.turn('Say walrus');
    const spent = await session.call<{ modelMetrics: object }>('session.usage.getMetrics');
    await session.call('session.history.truncate', { eventId: await eventOf(session, 'Say walrus') });
    expect(await session.call('session.usage.getMetrics')).toMatchObject({
      modelMetrics: spent.modelMetrics,
    });
    await session.turn('What animal was it?');
    expect(seen(model).at(-1)).toBe('tool Nothing was found. Try other words, or fewer.');
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    const first = (await session.stored()).find(({ type }) => type === 'user.message')?.id;
    expect(await session.failure('session.history.truncate', { eventId: first })).toMatchObject({
      message:
        'Request session.history.truncate failed with message: The session is working: wait until it is idle, or abort it',
    });
    expect(await pointsOf(session)).toEqual({
      fileChangeTrackingEnabled: false,
      unavailableReason: 'session-busy',
      points: [],
    });
    await session.answerTool(data.requestId, { result: 'seen' });
    await session.next('session.idle');
  });

  test('loses the checkpoints of compactions that go with it', async () => {
    const summary = say('<overview>Talk.</overview><checkpoint_title>All about talk</checkpoint_title>');
    const { session } = await runtime.session([say('one'), say('two'), summary]);
    await session.turn('First');
    await session.turn('Second');
    const second = await eventOf(session, 'Second');
    await session.call('session.history.compact');
    const directory = join(runtime.home.path, 'session-state', session.sessionId, 'checkpoints');
    expect(readdirSync(directory).sort()).toEqual(['001-all-about-talk.md', 'index.md']);
    await session.call('session.history.truncate', { eventId: second });
    expect(readdirSync(directory)).toEqual(['index.md']);
    expect(story(await session.stored()).at(-1)).toBe('assistant.turn_end 0');
  });
});

describe('a rewind with files', () => {
  test('shows what it would do, does it, and keeps modes and earlier turns', async () => {
    const directory = workIn('rewind');
    const [old, fresh] = [join(directory, 'old.sh'), join(directory, 'new.txt')];
    writeFileSync(old, 'one\ntwo\n');
    chmodSync(old, 0o751);
    const { session, model } = await tracked(
      directory,
      ...[create(fresh, 'hello\nyou\n'), say('made')],
      ...[edit(old, 'two', '2\n3'), edit(fresh, 'you', 'us'), say('changed')],
      ...[say('nothing'), say('again')],
    );
    for (const prompt of ['Make', 'Change', 'Talk']) await session.turn(prompt);
    const { points } = await pointsOf(session);
    const common = {
      eventId: expect.any(String),
      timestamp: expect.any(String),
      isAutopilotContinuation: false,
    };
    expect(points).toEqual([
      {
        ...common,
        userMessage: 'Make',
        canRestoreFiles: true,
        fileCount: 2,
        turnChangedFiles: true,
        linesAdded: 2,
        linesRemoved: 0,
      },
      {
        ...common,
        userMessage: 'Change',
        canRestoreFiles: true,
        fileCount: 2,
        turnChangedFiles: true,
        linesAdded: 3,
        linesRemoved: 2,
      },
      {
        ...common,
        userMessage: 'Talk',
        canRestoreFiles: false,
        fileCount: 0,
        turnChangedFiles: false,
        linesAdded: 0,
        linesRemoved: 0,
      },
    ]);
    const eventId = points[1]?.eventId;
    expect(await session.call('session.history.previewRewind', { eventId })).toEqual({
      available: true,
      fileCount: 2,
      files: [
        { path: old, changeType: 'modified', linesAdded: 2, linesRemoved: 1 },
        { path: fresh, changeType: 'modified', linesAdded: 1, linesRemoved: 1 },
      ],
    });
    expect(await session.call('session.history.rewind', { eventId, mode: 'conversation-and-files' })).toEqual(
      {
        outcome: 'success',
        eventsRemoved: expect.any(Number),
        restoredFiles: [old, fresh],
        skippedFiles: [],
      },
    );
    expect([readFileSync(old, 'utf8'), readFileSync(fresh, 'utf8')]).toEqual(['one\ntwo\n', 'hello\nyou\n']);
    expect(statSync(old).mode & 0o777).toBe(0o751);
    const first = { eventId: await eventOf(session, 'Make'), mode: 'conversation-and-files' };
    await session.call('session.history.rewind', first);
    expect(existsSync(fresh)).toBe(false);
    await session.turn('Anew');
    expect(seen(model)).toEqual(['user Anew']);
    const snapshots = join(runtime.home.path, 'session-state', session.sessionId, 'rewind-file-snapshots');
    expect(readdirSync(snapshots)).toEqual([]);
    await session.call('session.destroy');
    const { data } = await session.next('session.shutdown');
    expect(data.codeChanges).toEqual({ linesAdded: 5, linesRemoved: 2, filesModified: [fresh, old] });
  });

  test('leaves files that others changed since, and names them; unless it is forced', async () => {
    const directory = workIn('others');
    const [mine, theirs] = [join(directory, 'mine.txt'), join(directory, 'theirs.txt')];
    const { session } = await tracked(
      directory,
      create(mine, 'a'),
      create(theirs, 'b'),
      say('made'),
      say('more'),
    );
    await session.turn('Make');
    await session.turn('More');
    writeFileSync(theirs, 'by the user');
    const eventId = await eventOf(session, 'Make');
    expect(await session.call('session.history.previewRewind', { eventId })).toMatchObject({
      files: [
        { path: mine, changeType: 'created' },
        { path: theirs, changedSince: true },
      ],
    });
    const more = { eventId: await eventOf(session, 'More'), mode: 'conversation' };
    expect(await session.call('session.history.rewind', more)).toMatchObject({
      outcome: 'success',
      restoredFiles: [],
    });
    const rewind = { eventId, mode: 'conversation-and-files' };
    expect(await session.call('session.history.rewind', rewind)).toMatchObject({
      outcome: 'success',
      restoredFiles: [mine],
      skippedFiles: [{ path: theirs, reason: 'user-modified' }],
    });
    expect(readFileSync(theirs, 'utf8')).toBe('by the user');
    const { session: other } = await tracked(directory, edit(theirs, 'user', 'agent'), say('done'));
    await other.turn('Change');
    writeFileSync(theirs, 'again');
    const forced = { eventId: await eventOf(other, 'Change'), mode: 'conversation-and-files', force: true };
    expect(await other.call('session.history.rewind', forced)).toMatchObject({ restoredFiles: [theirs] });
    expect(readFileSync(theirs, 'utf8')).toBe('by the user');
  });

  test('follows no link that was put in its way', async () => {
    const directory = workIn('links');
    const inner = join(directory, 'inner');
    mkdirSync(inner);
    const path = join(inner, 'a.txt');
    const { session } = await tracked(directory, create(path, 'a'), say('made'));
    await session.turn('Make');
    const outside = workIn('outside');
    writeFileSync(join(outside, 'a.txt'), 'a');
    renameSync(inner, join(directory, 'moved'));
    symlinkSync(outside, inner);
    const rewind = { eventId: await eventOf(session, 'Make'), mode: 'conversation-and-files', force: true };
    expect(await session.call('session.history.rewind', rewind)).toMatchObject({
      outcome: 'success',
      restoredFiles: [],
      skippedFiles: [{ path, reason: 'user-modified' }],
    });
    expect(existsSync(join(outside, 'a.txt'))).toBe(true);
  });

  test('leaves a file of which the snapshot is damaged, and says so', async () => {
    const directory = workIn('damaged');
    const [first, second] = [join(directory, 'a.txt'), join(directory, 'b.txt')];
    writeFileSync(second, 'b');
    const { session } = await tracked(directory, create(first, 'a'), edit(second, 'b', 'c'), say('done'));
    await session.turn('Write');
    const snapshots = join(runtime.home.path, 'session-state', session.sessionId, 'rewind-file-snapshots');
    writeFileSync(join(snapshots, readdirSync(snapshots)[0] ?? ''), 'damaged');
    const rewind = { eventId: await eventOf(session, 'Write'), mode: 'conversation-and-files' };
    expect(await session.call('session.history.rewind', rewind)).toMatchObject({
      outcome: 'success',
      restoredFiles: [first],
      skippedFiles: [{ path: second, reason: 'skipped-capture' }],
    });
    expect([existsSync(first), readFileSync(second, 'utf8')]).toEqual([false, 'c']);
  });

  test('that cannot put one file back puts back none, and cuts nothing', async () => {
    const directory = workIn('refused');
    const inner = join(directory, 'inner');
    mkdirSync(inner);
    const [first, second] = [join(directory, 'a.txt'), join(inner, 'b.txt')];
    writeFileSync(second, 'b');
    const { session } = await tracked(directory, create(first, 'a'), edit(second, 'b', 'c'), say('done'));
    await session.turn('Write');
    rmSync(inner, { recursive: true });
    writeFileSync(inner, 'a file in its place');
    const eventId = await eventOf(session, 'Write');
    const rewind = { eventId, mode: 'conversation-and-files', force: true };
    expect(await session.call('session.history.rewind', rewind)).toMatchObject({
      outcome: 'files-rolled-back',
      restoredFiles: [],
      error: expect.stringContaining(second),
    });
    expect(readFileSync(first, 'utf8')).toBe('a');
    expect(await prompts(session)).toEqual(['Write']);
  });

  test('that a kill breaks off in the middle is finished by the same rewind', async () => {
    const directory = workIn('killed');
    const paths = Array.from({ length: 60 }, (_, index) => join(directory, `${index}.txt`));
    for (const path of paths) writeFileSync(path, 'one');
    const arguments_ = (path: string) => ({ path, old_str: 'one', new_str: 'two' });
    const edits = paths.map((path, index) => ({
      id: `e${index}`,
      name: 'edit',
      arguments: arguments_(path),
    }));
    const model = runtime.script(callTools(...edits), say('done'));
    const first = runtime.spawn({ flags: ['--stdio'] });
    const options = { ...providerOf(model), workingDirectory: directory, enableFileChangeTracking: true };
    const before = await (await runtime.connect(first, { hasGaps: true })).create(options);
    await before.call('session.permissions.setMode', { mode: 'allow-all' });
    await before.turn('Go');
    const isBack = (path: string) => readFileSync(path, 'utf8') === 'one';
    expect(paths.filter(isBack)).toEqual([]);
    const rewind = { eventId: await eventOf(before, 'Go'), mode: 'conversation-and-files' };
    const broken = before.call('session.history.rewind', rewind).catch(() => undefined);
    while (!paths.some(isBack)) await new Promise(setImmediate);
    await first.signal('SIGKILL');
    await broken;
    const second = runtime.spawn({ flags: ['--stdio'] });
    const session = await (await runtime.connect(second, { hasGaps: true })).resume(
      before.sessionId,
      options,
    );
    // On a quick machine it was done before the kill.
    if ((await prompts(session)).length > 0)
      expect(await session.call('session.history.rewind', rewind)).toMatchObject({
        outcome: 'success',
        restoredFiles: expect.arrayContaining(paths) as string[],
        skippedFiles: [],
      });
    expect(paths.filter((path) => !isBack(path))).toEqual([]);
    expect(await prompts(session)).toEqual([]);
  });

  test('is tracked on after a restart, and goes when the session goes', async () => {
    const directory = workIn('restart');
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'secret-of-the-file');
    const model = runtime.script(edit(path, 'secret', 'public'), say('done'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(process);
    const before = await client.create({
      ...providerOf(model),
      workingDirectory: directory,
      enableFileChangeTracking: true,
    });
    await before.call('session.permissions.setMode', { mode: 'allow-all' });
    await before.turn('Change');
    await process.signal('SIGKILL');
    const session = await runtime.client.resume(before.sessionId, providerOf(model));
    const rewind = { eventId: await eventOf(session, 'Change'), mode: 'conversation-and-files' };
    expect(await session.call('session.history.rewind', rewind)).toMatchObject({ restoredFiles: [path] });
    expect(readFileSync(path, 'utf8')).toBe('secret-of-the-file');
    await runtime.client.call('session.delete', { sessionId: session.sessionId });
    expect(existsSync(join(runtime.home.path, 'session-state', session.sessionId))).toBe(false);
  });

  test('is refused without tracking, for what is no prompt, and in other modes', async () => {
    const { session } = await runtime.session([say('one')]);
    await session.turn('First');
    const eventId = await eventOf(session, 'First');
    const nothing = { restoredFiles: [], skippedFiles: [] };
    const mode = 'conversation-and-files';
    expect(await session.call('session.history.rewind', { eventId, mode })).toEqual({
      outcome: 'file-change-tracking-disabled',
      ...nothing,
    });
    expect(await session.call('session.history.previewRewind', { eventId })).toEqual({
      available: false,
      reason: 'file-change-tracking-disabled',
      fileCount: 0,
      files: [],
    });
    const failed = 'Request session.history.rewind failed with message:';
    expect(await session.failure('session.history.rewind', { eventId: 'nope', mode })).toMatchObject({
      message: `${failed} Rewind event 'nope' is not a current root user turn`,
    });
    expect(await session.failure('session.history.rewind', { eventId, mode: 'all' })).toMatchObject({
      message: `${failed} Invalid rewind mode 'all'; expected 'conversation' or 'conversation-and-files'`,
    });
  });
});

test('a cleared session starts from the prompt alone, idle or in the middle of a turn', async () => {
  const look = callTools({ id: 'l1', name: 'look', arguments: {} });
  const { session, model } = await runtime.session(
    [say('one'), say('begun'), look, say('two'), say('three')],
    {
      tools: [{ name: 'look', skipPermission: true }],
    },
  );
  await session.turn('First');
  expect(await session.call('session.history.clearContext', { prompt: 'Begin' })).toEqual({
    messagesCleared: 2,
  });
  await session.next('session.idle');
  expect(seen(model)).toEqual(['user Begin']);
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.call('session.history.clearContext', { prompt: 'Only this' });
  await session.answerTool(data.requestId, { result: 'seen' });
  await session.next('session.idle');
  expect(seen(model)).toEqual(['user Only this']);
  await session.turn('Last');
  expect(seen(model)).toEqual(['user Only this', 'assistant two', 'user Last']);
  expect(await prompts(session)).toEqual(['First', 'Begin', 'Look', 'Last']);
});

test('a session that a client shuts down says why, and is gone for all of its clients', async () => {
  const { session } = await runtime.session([say('one')]);
  await session.turn('First');
  expect(await session.call('session.shutdown', { type: 'error', reason: 'It broke' })).toBeNull();
  const { data } = await session.next('session.shutdown');
  expect(data).toMatchObject({ shutdownType: 'error', errorReason: 'It broke', currentModel: 'scripted' });
  expect(data.currentTokens).toBeGreaterThan(0);
  expect(await session.failure('session.send', { prompt: 'More' })).toMatchObject({
    message: `Request session.send failed with message: Session not found for sessionId: ${session.sessionId}`,
  });
});
