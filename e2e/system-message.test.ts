import { SYSTEM_MESSAGE_SECTIONS } from '@groundcrew/sdk';
import { liveRuntime, type ScriptedModel, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const ids = Object.keys(SYSTEM_MESSAGE_SECTIONS);

/** What the model is given before anything else, in a session with these settings. */
async function promptWith(settings: Readonly<Record<string, unknown>>): Promise<string> {
  const { session, model } = await runtime.session([say('ok')], settings);
  await session.turn('Hello');
  return systemPromptOf(model);
}

const systemPromptOf = (model: ScriptedModel) => String(model.requests[0]?.body.messages[0]?.content);
const customized = (sections: object, content?: string) =>
  promptWith({ systemMessage: { mode: 'customize', sections, ...(content && { content }) } });

describe('the system message', () => {
  test('is ours unless the app says otherwise, and says nothing of GitHub to other services', async () => {
    const prompt = await promptWith({});
    expect(prompt).toMatch(/^You are an agent/);
    expect(prompt).toContain('<code_change_instructions>');
    expect(prompt).not.toContain('GitHub Copilot API');
  });

  test.each([{ mode: 'append' }, {}])('%j adds to it', async (mode) => {
    const plain = await promptWith({});
    expect(await promptWith({ systemMessage: { ...mode, content: 'End with BEEP.' } })).toBe(
      `${plain}\n\nEnd with BEEP.`,
    );
  });

  test('replace is all there is, and tools are offered as before', async () => {
    const { session, model } = await runtime.session([say('ok')], {
      systemMessage: { mode: 'replace', content: 'You are a parrot.' },
    });
    await session.turn('Hello');
    expect(systemPromptOf(model)).toBe('You are a parrot.');
    expect(model.requests[0]?.body.tools?.map((tool) => tool.function.name)).toContain('view');
  });

  test('names the service where the model is reached through the Copilot API', async () => {
    const model = runtime.script(say('ok'));
    const environment = { COPILOT_API_URL: model.baseUrl, MY_TOKEN: 'gho_1' };
    const process = runtime.spawn({ flags: ['--stdio', '--auth-token-env', 'MY_TOKEN'], environment });
    const session = await (await runtime.connect(process)).create();
    await session.turn('Hello');
    expect(systemPromptOf(model)).toContain('GitHub');
  });
});

describe('a section', () => {
  test.each(ids)('%s can be replaced, removed, added to at its end and at its beginning', async (id) => {
    const edits = ['replace', 'append', 'prepend'].map((action) =>
      customized({ [id]: { action, content: 'MARK' } }),
    );
    const removed = customized({ [id]: { action: 'remove' } });
    const preserved = customized({ [id]: { action: 'preserve' } });
    const [replaced = '', appended = '', prepended = ''] = await Promise.all(edits);
    const plain = await preserved;
    // Where the mark stands in the place of the section, the section is what the plain prompt has there.
    const [before = '', after = ''] = replaced.split('MARK');
    expect(plain.startsWith(before.trimEnd()) && plain.endsWith(after.trimStart())).toBe(true);
    const own = plain.slice(before.length, plain.length - after.length);
    expect(appended).toBe(`${before}${own === '' ? '' : `${own}\n`}MARK${after}`);
    expect(prepended).toBe(`${before}MARK${own === '' ? '' : `\n${own}`}${after}`);
    expect((await removed).replaceAll(/\s+/g, ' ')).toBe(`${before} ${after}`.replaceAll(/\s+/g, ' ').trim());
  });

  test('that is edited leaves the others alone, and content comes last', async () => {
    const prompt = await customized({ code_change_rules: { action: 'remove' } }, 'And be kind.');
    expect(prompt).not.toContain('<code_change_instructions>');
    expect(prompt).toMatch(/^You are an agent/);
    expect(prompt.endsWith('\n\nAnd be kind.')).toBe(true);
  });

  test.each(['weather', 'constructor'])('%s, which is unknown, is appended with a warning', async (id) => {
    const { session, model } = await runtime.session([say('ok')], {
      systemMessage: { mode: 'customize', sections: { [id]: { action: 'replace', content: 'It rains.' } } },
    });
    await session.turn('Hello');
    expect(systemPromptOf(model).endsWith('\n\nIt rains.')).toBe(true);
    const warnings = session.events.flatMap(({ type, data }) => (type === 'session.warning' ? [data] : []));
    expect(warnings).toEqual([
      { warningType: 'configuration', message: expect.stringContaining(id) as string },
    ]);
  });
});

describe('tools of the runtime', () => {
  test.each([
    ['by a bare name', { availableTools: ['view', 'grep'] }, ['grep', 'view']],
    ['by their source', { availableTools: ['builtin:view', 'mcp:*'] }, ['view']],
    ['all of a source', { availableTools: ['builtin:*'], excludedTools: ['builtin:view'] }, undefined],
    ['none', { excludedTools: ['builtin:*'] }, []],
    ['none that only another source has', { availableTools: ['custom:view'] }, []],
  ] as const)('are offered %s', async (_, filters, expected) => {
    const { session, model } = await runtime.session([say('ok')], filters);
    await session.turn('Hello');
    const names = (model.requests[0]?.body.tools ?? []).map((tool) => tool.function.name).sort();
    if (expected) expect(names).toEqual(expected);
    else expect([names.includes('view'), names.includes('edit')]).toEqual([false, true]);
  });

  test('that filters took away cause one warning, at the first prompt', async () => {
    const { session } = await runtime.session([say('a'), say('b')], { excludedTools: ['view', 'edit'] });
    await session.turn('One');
    await session.turn('Two');
    const received = session.events.flatMap(({ type, data }) => (type === 'session.info' ? [data] : []));
    expect(received).toEqual([{ infoType: 'configuration', message: 'Disabled tools: edit, view' }]);
  });
});
