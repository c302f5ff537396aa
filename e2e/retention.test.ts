import { callTools, liveRuntime, type ScriptedModel, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const summary = say('<overview>Things happened.</overview>');
const filler = (name: string) => `${name} ${'lorem ipsum dolor sit amet '.repeat(40)}`;
const window = (tokens: number) => ({
  modelCapabilities: { limits: { max_prompt_tokens: tokens } },
  infiniteSessions: { backgroundCompactionThreshold: 1, bufferExhaustionThreshold: 1 },
});
const lastRequest = ({ requests }: ScriptedModel) =>
  (requests.at(-1)?.body.messages ?? []).map(({ content }) => String(content)).join('\n');

const rules = [
  'Always prefix modules of the port with tide_.',
  'Do not touch legacy/pier.ts under any circumstances.',
  'Reply in Portuguese, please.',
  'Tabs, not spaces.',
  'no emojis anywhere.',
  'We call the customer "Kestrel Bay GmbH", e.g. in letters, and sign with M. Ortiz.',
  'Keep every function below 31 lines.',
  'Commit messages have to begin with HB-204:',
  'Antworte künftig auf Deutsch und nenne Dateien mit Pfad.',
  'N’utilise jamais console.log dans src/quai.',
  'A partir de ahora escribe los comentarios en español.',
  'Non usare mai la libreria moment-zeta.',
  'Никогда не трогай каталог миграций.',
  '从现在起，所有文件名必须以 gang_ 开头。',
  'テストは必ず vitest-kai で書いてください。',
  '항상 커밋 전에 gaji 린트를 실행하세요.',
  'لا تستخدم مكتبة marsa-old.',
  'हमेशा इकाई मीटर में लिखो।',
  'The new goal is to ship the planner for Gannet Rock instead.',
];

test('the goal and rules in many phrasings and languages are in the next request word by word, 1, 3 and 10 compactions deep', async () => {
  const perRound = 8;
  const { session, model } = await runtime.session([], window(24_000));
  const goal = 'Build the harbour tide planner for Kestrel Bay, with a chart for each of the nine berths.';
  let planted = 0;
  for (let round = 1; round <= 10; round += 1) {
    model.play(...Array.from({ length: perRound }, () => say('noted')), summary);
    for (let turn = 0; turn < perRound; turn += 1) {
      const isFirst = round === 1 && turn === 0;
      const rule = turn % 3 === 1 ? (rules[planted++] ?? '') : '';
      await session.turn(isFirst ? goal : `${filler('Background.')}\n${rule}\n${filler('More of it.')}`);
    }
    await session.call('session.history.compact');
    if (![1, 3, 10].includes(round)) continue;
    model.play(say('asked'));
    await session.turn('And now?');
    const request = lastRequest(model);
    expect(rules.slice(0, planted).filter((rule) => !request.includes(rule))).toEqual([]);
    expect(request).toContain(goal);
    expect(request.length).toBeLessThan(24_000 * 4);
  }
  expect(planted).toBeGreaterThanOrEqual(rules.length);
  expect(lastRequest(model)).toContain('<user_message recall="');
});

describe('what users paste', () => {
  test('costs no rule that stands before it, behind it, or in a list below one', async () => {
    const pasted = Array.from({ length: 600 }, (_, index) => `Part ${index} must not be bent or painted.`);
    const { session, model } = await runtime.session(
      [...Array.from({ length: 12 }, () => say('ok')), summary, say('end')],
      window(24_000),
    );
    const between = [
      'Never rename the quay Ursula.',
      'Leave these alone, always:',
      '- the crane log',
      '今后不要删除 gang_7。',
    ];
    pasted.splice(300, 0, ...between);
    const long = `Never ${'call the old service, '.repeat(60)}without asking.`;
    await session.turn('Build it.');
    await session.turn(
      `Never do any of these:\n- merge on a Friday\n- rename the berth table\n\n${filler('x')}`,
    );
    await session.turn(`Always greet Ada first.\n${pasted.join('\n')}\nOnly ship from branch gannet.`);
    await session.turn(long);
    for (let turn = 0; turn < 8; turn += 1) await session.turn(filler(`Turn ${turn}`).repeat(4));
    await session.call('session.history.compact');
    await session.turn('And now?');
    const request = lastRequest(model);
    for (const rule of ['- merge on a Friday', '- rename the berth table', 'Always greet Ada first.', long])
      expect(request).toContain(rule);
    for (const rule of [...between, 'Only ship from branch gannet.']) expect(request).toContain(rule);
    expect(request.match(/must not be bent/g)?.length).toBeLessThan(60);
  });

  test('is read to its middle, however long it is', async () => {
    const { session, model } = await runtime.session(
      [say('ok'), say('ok'), summary, say('end')],
      window(60_000),
    );
    const line = 'The quay has to be swept and each buoy must be counted, not once but twice a day. ';
    const pasted = [
      line.repeat(1200),
      'never let the ferry Onyx wait.\nFrom now on, the pilot is Mr. Quill.',
      line.repeat(1200),
    ];
    await session.turn('Build it.');
    await session.turn(pasted.join('\n'));
    await session.call('session.history.compact');
    await session.turn('And now?');
    const request = lastRequest(model);
    expect(request).toContain('never let the ferry Onyx wait.');
    expect(request).toContain('From now on, the pilot is Mr. Quill.');
    expect(request.length).toBeLessThan((60_000 * 4) / 2);
  });

  test('with the goal stays whole beyond the third of the window, whatever was said since, as long as turns have room beside it', async () => {
    const { session, model } = await runtime.session(
      [say('one'), say('two'), summary, say('three'), summary, say('end')],
      window(60_000),
    );
    const goal = `Port the planner to Rust.\n${filler('log').repeat(80)}\nEND-OF-PASTE zq44`;
    expect(goal.length).toBeGreaterThan((60_000 * 4) / 3);
    await session.turn(goal);
    await session.turn(filler('Second').repeat(10));
    await session.call('session.history.compact');
    await session.turn(filler('Third').repeat(10));
    await session.call('session.history.compact');
    await session.turn('And now?');
    expect(lastRequest(model)).toContain(goal);
  });

  test('with the goal, larger than the room, is kept by its ends and by reference, and the session goes on', async () => {
    const { session, model } = await runtime.session(
      [say('one'), say('two'), summary, callTools({ id: 'c1', name: 'recall', arguments: {} }), say('end')],
      window(24_000),
    );
    const goal = `Port the planner to Rust.\n${filler('log').repeat(60)}\nEND-OF-PASTE zq44`;
    await session.turn(goal);
    await session.turn('Second');
    await session.call('session.history.compact');
    await session.turn('Third');
    const request = lastRequest(model);
    expect(request).toContain('Port the planner to Rust.');
    expect(request).toContain('END-OF-PASTE zq44');
    expect(request).toMatch(/characters are left out here; recall opens the whole message/);
    expect(request.length).toBeLessThan(goal.length);
  });
});

test('files are pinned by what was done to them, and a call that failed did nothing; plans, todos and open work are named', async () => {
  const create = (id: string, path: string) =>
    callTools({ id, name: 'create', arguments: { path, file_text: 'one\n' } });
  const { session, model } = await runtime.session([
    create('c1', 'made.txt'),
    create('c2', 'made.txt'),
    callTools({ id: 'c3', name: 'edit', arguments: { path: 'made.txt', old_str: 'one', new_str: 'two' } }),
    callTools({ id: 'c4', name: 'edit', arguments: { path: 'gone.txt', old_str: 'a', new_str: 'b' } }),
    callTools({ id: 'c5', name: 'view', arguments: { path: 'made.txt' } }),
    callTools({
      id: 'c6',
      name: 'sql',
      arguments: {
        description: 'Plan',
        query: `INSERT INTO todos (id, title, description, status) VALUES
          ('dredge', 'Dredge berth 4', 'needs the tug Orla', 'pending'), ('survey', 'Survey', 'Survey', 'done')`,
      },
    }),
    say('done'),
    summary,
    say('end'),
  ]);
  await session.call('session.permissions.setMode', { mode: 'allow-all' });
  await session.call('session.plan.update', { content: `# Plan\n\n${'- a step\n'.repeat(2_000)}` });
  await session.turn('Work on made.txt');
  await session.call('session.history.compact');
  await session.turn('And now?');
  const request = lastRequest(model);
  expect(request).toMatch(/<files_changed>\n- \S*made\.txt: created, edited 1 ×\n<\/files_changed>/);
  expect(request).not.toContain('gone.txt');
  expect(request).toMatch(/<plan path="[^"]+plan\.md">\n# Plan/);
  expect(request).toMatch(/\[… \d+ more characters are in \S+plan\.md …\]/);
  expect(request).toContain(
    '<todos>\n- [pending] dredge: Dredge berth 4 (needs the tug Orla)\n- [done] survey: Survey\n</todos>',
  );
});
