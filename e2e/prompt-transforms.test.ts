import { callTools, liveRuntime, providerOf, type ScriptedModel, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: [] });

interface Sections {
  readonly [id: string]: { readonly content: string };
}

const systemPromptOf = (model: ScriptedModel, call = 0) =>
  String(model.requests[call]?.body.messages[0]?.content);
const transform = { action: 'transform' };

/** A session on a connection of its own whose client answers with what `change` makes of the sections. */
async function transforming(
  sections: object,
  change: (sections: Sections, signal: AbortSignal) => unknown,
  params: Readonly<Record<string, unknown>> = {},
) {
  const client = await runtime.connect();
  const asked: Sections[] = [];
  client.answer = async (method, given, signal) => {
    if (method !== 'systemMessage.transform') throw new Error(`Unhandled method ${method}`);
    const { sections: now } = given as { sections: Sections };
    asked.push(now);
    return change(now, signal);
  };
  const model = runtime.script(say('one'), say('two'), say('three'));
  const session = await client.create({
    ...providerOf(model),
    systemMessage: { mode: 'customize', sections },
    ...params,
  });
  return { client, session, model, asked };
}

const marked = (sections: Sections) => ({
  sections: Object.fromEntries(
    Object.entries(sections).map(([id, { content }]) => [id, { content: `${content} [${id}]` }]),
  ),
});

describe('sections that the app transforms', () => {
  test('are all in one request for each model call, with their texts as they stand', async () => {
    const { session, model, asked } = await transforming(
      { tone: transform, safety: transform, guidelines: { action: 'remove' } },
      marked,
    );
    await session.turn('Hello');
    await session.turn('Again');
    expect(asked.map((sections) => Object.keys(sections))).toEqual([
      ['tone', 'safety'],
      ['tone', 'safety'],
    ]);
    const [first = {}] = asked;
    expect(systemPromptOf(model)).toContain(`${first.tone?.content} [tone]`);
    expect(systemPromptOf(model)).toContain(`${first.safety?.content} [safety]`);
    expect(systemPromptOf(model, 1)).toBe(systemPromptOf(model));
    expect(session.events.filter(({ type }) => type === 'system.message')).toHaveLength(1);
  });

  test('may say something else at the next call, and the log has both', async () => {
    let calls = 0;
    const { session, model } = await transforming({ tone: transform }, () => {
      calls += 1;
      return { sections: { tone: { content: `Tone number ${calls}.` } } };
    });
    await session.turn('Hello');
    await session.turn('Again');
    expect([systemPromptOf(model), systemPromptOf(model, 1)]).toEqual([
      expect.stringContaining('Tone number 1.'),
      expect.stringContaining('Tone number 2.'),
    ]);
    expect(session.events.filter(({ type }) => type === 'system.message')).toHaveLength(2);
  });

  test('are asked for before the call after a tool, too', async () => {
    const client = await runtime.connect();
    let asked = 0;
    client.answer = async (_method, given) => {
      asked += 1;
      return given;
    };
    const model = runtime.script(callTools({ id: 'c1', name: 'look', arguments: {} }), say('done'));
    const session = await client.create({
      ...providerOf(model),
      tools: [{ name: 'look', skipPermission: true }],
      systemMessage: { mode: 'customize', sections: { tone: transform } },
    });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'a tree' });
    await session.next('session.idle');
    expect(asked).toBe(2);
  });

  test('a group has the texts of its members, and what was made of a member counts within it', async () => {
    const { session, model, asked } = await transforming({ identity: transform, tone: transform }, marked);
    await session.turn('Hello');
    const [first = {}] = asked;
    expect(first.identity?.content).toContain(first.tone?.content);
    const prompt = systemPromptOf(model);
    expect(prompt.match(/\[tone\]/g)).toHaveLength(1);
    expect(prompt.match(/\[identity\]/g)).toHaveLength(1);
    expect(prompt.indexOf('[tone]')).toBeLessThan(prompt.indexOf('[identity]'));
  });

  test.each([
    ['throws', () => Promise.reject(new Error('no ink'))],
    ['answers nonsense', () => ({ sections: { tone: { content: 7 } } })],
    ['answers nothing', () => null],
    [
      'is silent',
      (_: Sections, signal: AbortSignal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('too late')));
        }),
    ],
  ])('stay as they are when the app %s, with one warning', async (what, change) => {
    const plain = await transforming({}, marked);
    await plain.session.turn('Hello');
    const { session, model } = await transforming({ tone: transform }, change, {
      hookOptions: { timeoutMs: what === 'is silent' ? 50 : 30_000 },
    });
    await session.turn('Hello');
    await session.turn('Again');
    expect(systemPromptOf(model)).toBe(systemPromptOf(plain.model));
    const warnings = session.events.flatMap(({ type, data }) => (type === 'session.warning' ? [data] : []));
    expect(warnings).toEqual([
      { warningType: 'system_message', message: expect.stringContaining('(tone), which stays as it was') },
    ]);
  });

  test('that are not in the answer stay as they are, and others in it are not taken', async () => {
    const { session, model, asked } = await transforming({ tone: transform }, () => ({
      sections: { safety: { content: 'Nothing is safe.' } },
    }));
    await session.turn('Hello');
    expect(systemPromptOf(model)).toContain(asked[0]?.tone?.content);
    expect(systemPromptOf(model)).not.toContain('Nothing is safe.');
  });

  test('stay as they are while the client that transforms is away, and are transformed when it is back', async () => {
    const { client, session, model } = await transforming({ tone: transform }, marked);
    await session.turn('Hello');
    const other = await runtime.client.resume(session.sessionId, providerOf(model));
    await client.close();
    await other.turn('Alone');
    expect(systemPromptOf(model, 1)).not.toContain('[tone]');
    const back = await runtime.connect();
    back.answer = async (_method, given) => marked((given as { sections: Sections }).sections);
    const again = await back.resume(session.sessionId, {
      ...providerOf(model),
      systemMessage: { mode: 'customize', sections: { tone: transform } },
    });
    await again.turn('Back');
    expect(systemPromptOf(model, 2)).toContain('[tone]');
  });
});

describe('a section to be preserved', () => {
  test.each(['remove', 'replace'])('stays when its group is to %s', async (action) => {
    const plain = await transforming({}, marked);
    await plain.session.turn('Hello');
    const tone = (await toneOf()) ?? '';
    const { session, model } = await transforming(
      { identity: { action, content: 'ME' }, tone: { action: 'preserve' } },
      marked,
    );
    await session.turn('Hello');
    expect(tone).not.toBe('');
    expect(systemPromptOf(model)).toContain(tone);
    expect(systemPromptOf(model)).not.toMatch(/^You are an agent/);
  });
});

async function toneOf(): Promise<string | undefined> {
  const { session, asked } = await transforming({ tone: transform }, marked);
  await session.turn('Hello');
  return asked[0]?.tone?.content;
}

test('a prompt whose sections were being rewritten when the runtime was killed has its turn, once', async () => {
  const process = runtime.spawn({ flags: ['--no-auto-update', '--port', '0'] });
  const client = await runtime.connect(process, { hasGaps: true });
  let isAsked = false;
  client.answer = () => {
    isAsked = true;
    return new Promise(() => undefined);
  };
  const model = runtime.script(say('one'));
  const systemMessage = { mode: 'customize', sections: { tone: transform } };
  const before = await client.create({ ...providerOf(model), systemMessage });
  await before.send('Hello');
  await client.until(
    () => (isAsked || undefined) && before.events.find(({ type }) => type === 'user.message'),
    'both',
  );
  await process.signal('SIGKILL');
  const session = await runtime.client.resume(before.sessionId, {
    ...providerOf(model),
    continuePendingWork: true,
  });
  await session.next('session.idle');
  const stored = await session.stored();
  const kinds = ['user.message', 'assistant.turn_start', 'assistant.message'];
  expect(stored.map(({ type }) => type).filter((type) => kinds.includes(type))).toEqual(kinds);
});
