import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { liveRuntime, type ScriptedModel, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const systemPromptOf = (model: ScriptedModel, call = 0) =>
  String(model.requests[call]?.body.messages[0]?.content);
let projects = 0;

/** A directory with these files; a repository when it is to be one. */
function project(files: Readonly<Record<string, string>>, { isRepository = false } = {}): string {
  projects += 1;
  const root = join(runtime.home.path, `project-${projects}`);
  mkdirSync(root, { recursive: true });
  if (isRepository) mkdirSync(join(root, '.git'));
  for (const [name, text] of Object.entries(files)) write(join(root, name), text);
  return root;
}

function write(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function promptIn(workingDirectory: string, params: Readonly<Record<string, unknown>> = {}) {
  const { session, model } = await runtime.session([say('ok'), say('ok'), say('ok')], {
    workingDirectory,
    ...params,
  });
  await session.turn('Hello');
  return { session, model, prompt: systemPromptOf(model) };
}

function warningsOf(session: Awaited<ReturnType<typeof promptIn>>['session']): readonly unknown[] {
  return session.events.flatMap(({ type, data }) => (type === 'session.warning' ? [data] : []));
}

describe('instructions in files', () => {
  test('are in the prompt, from the general to the special, each with the files it holds for', async () => {
    const root = project(
      {
        '.github/copilot-instructions.md': 'General rules.',
        'AGENTS.md': 'Rules for agents.',
        '.github/instructions/web/ui.instructions.md':
          '---\ndescription: "How pages are made"\napplyTo: "**/*.{tsx,css},web/**"\n---\nRules of pages.\n',
        '.github/instructions/all.instructions.md': '---\napplyTo: "**"\n---\nRules of all.',
        '.github/instructions/readme.md': 'Not an instruction.',
        'packages/AGENTS.md': 'Rules of packages.',
        'packages/one/AGENTS.md': 'Rules of one.',
        'packages/two/AGENTS.md': 'Rules of two.',
      },
      { isRepository: true },
    );
    const { prompt, session } = await promptIn(join(root, 'packages/one'));
    const section = prompt.slice(
      prompt.indexOf('<custom_instructions>'),
      prompt.indexOf('</custom_instructions>'),
    );
    expect(section.split('\n').slice(2)).toEqual([
      '<instructions source=".github/copilot-instructions.md">',
      'General rules.',
      '</instructions>',
      '<instructions source="AGENTS.md">',
      'Rules for agents.',
      '</instructions>',
      '<instructions source=".github/instructions/all.instructions.md">',
      'Rules of all.',
      '</instructions>',
      '<instructions source=".github/instructions/web/ui.instructions.md" applyTo="**/*.{tsx,css},web/**">',
      'Rules of pages.',
      '</instructions>',
      '<instructions source="packages/AGENTS.md">',
      'Rules of packages.',
      '</instructions>',
      '<instructions source="packages/one/AGENTS.md">',
      'Rules of one.',
      '</instructions>',
      '',
    ]);
    const { sources } = await session.call<{ sources: { id: string }[] }>('session.instructions.getSources');
    expect(sources[3]).toEqual({
      id: join(root, '.github/instructions/web/ui.instructions.md'),
      label: '.github/instructions/web/ui.instructions.md',
      sourcePath: join(root, '.github/instructions/web/ui.instructions.md'),
      content: 'Rules of pages.',
      type: 'vscode',
      location: 'repository',
      applyTo: ['**/*.{tsx,css}', 'web/**'],
      description: 'How pages are made',
    });
    expect(warningsOf(session)).toEqual([]);
  });

  test('of a home hold in every project, and those the app brings besides', async () => {
    const path = join(runtime.home.path, 'copilot-instructions.md');
    writeFileSync(path, 'Rules of mine.');
    try {
      const { prompt } = await promptIn(project({}), { organizationCustomInstructions: 'Rules of ours.' });
      expect(prompt).toContain('<instructions source="copilot-instructions.md">\nRules of mine.');
      expect(prompt).toContain('<organization>\nRules of ours.\n</organization>');
    } finally {
      rmSync(path);
    }
  });

  test('of further directories hold, on create and on resume', async () => {
    const extra = project({
      '.github/instructions/a.instructions.md': 'EXTRA A',
      'b.instructions.md': 'EXTRA B',
    });
    const { prompt, session, model } = await promptIn(project({}), { instructionDirectories: [extra] });
    expect([prompt.includes('EXTRA A'), prompt.includes('EXTRA B')]).toEqual([true, true]);
    const other = project({ 'AGENTS.md': 'OTHER' });
    const again = await runtime.client.resume(session.sessionId, { instructionDirectories: [other] });
    await again.turn('Again');
    expect(systemPromptOf(model, 1)).toContain('OTHER');
    expect(systemPromptOf(model, 1)).not.toContain('EXTRA A');
  });

  test('are read as they stand before each call, and each change is an event', async () => {
    const root = project({ 'AGENTS.md': 'Version 1.' });
    const { session, model } = await promptIn(root);
    write(join(root, 'AGENTS.md'), 'Version 2.');
    await session.turn('Again');
    rmSync(join(root, 'AGENTS.md'));
    await session.turn('Gone');
    expect([0, 1, 2].map((call) => /Version \d/.exec(systemPromptOf(model, call))?.[0])).toEqual([
      'Version 1',
      'Version 2',
      undefined,
    ]);
    expect(session.events.filter(({ type }) => type === 'system.message')).toHaveLength(3);
  });

  test('are skipped where the app says so, also from one turn to the next', async () => {
    const root = project({ 'AGENTS.md': 'Read me.' });
    const { prompt, session, model } = await promptIn(root, { skipCustomInstructions: true });
    expect(prompt).not.toContain('Read me.');
    await session.call('session.options.update', { skipCustomInstructions: false });
    await session.turn('Again');
    expect(systemPromptOf(model, 1)).toContain('Read me.');
    await session.call('session.options.update', { skipCustomInstructions: true });
    await session.turn('And again');
    expect(systemPromptOf(model, 2)).not.toContain('Read me.');
  });

  test('are a section that can be removed', async () => {
    const { prompt } = await promptIn(project({ 'AGENTS.md': 'Read me.' }), {
      systemMessage: { mode: 'customize', sections: { custom_instructions: { action: 'remove' } } },
    });
    expect(prompt).not.toContain('Read me.');
  });
});

describe('an instruction file that is hostile', () => {
  test('is left out with a warning, and the session works', async () => {
    const outside = project({ 'secret.md': 'SECRET' });
    const root = project({ 'AGENTS.md': 'GOOD', 'docs/real.md': 'LINKED' });
    const instructions = join(root, '.github/instructions');
    mkdirSync(instructions, { recursive: true });
    symlinkSync(join(outside, 'secret.md'), join(instructions, 'out.instructions.md'));
    symlinkSync(join(root, 'docs/real.md'), join(instructions, 'in.instructions.md'));
    symlinkSync(join(root, 'nowhere'), join(instructions, 'broken.instructions.md'));
    symlinkSync(instructions, join(instructions, 'loop'));
    write(join(instructions, 'binary.instructions.md'), Buffer.from([0x41, 0, 0x42]));
    write(join(instructions, 'latin.instructions.md'), Buffer.from([0xe4, 0xf6]));
    mkdirSync(join(instructions, 'directory.instructions.md'));
    execFileSync('mkfifo', [join(instructions, 'pipe.instructions.md')]);
    write(join(instructions, 'huge.instructions.md'), `BEGIN${'é'.repeat(40 * 1024)}END`);
    const { prompt, session } = await promptIn(root);
    expect(['GOOD', 'LINKED', 'BEGIN', 'SECRET', 'END'].map((word) => prompt.includes(word))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    const named = (name: string) => join(instructions, `${name}.instructions.md`);
    expect(warningsOf(session)).toEqual(
      [
        `${named('binary')} is left out: it is no text`,
        `${named('huge')} is longer than 65536 bytes: the rest is left out`,
        `${named('latin')} is left out: it is no text in UTF-8`,
        `${named('out')} is left out: it leads out of ${root}`,
        `${named('pipe')} is left out: it is no file`,
      ].map((message) => ({ warningType: 'system_message', message })),
    );
  });

  test('behind a directory that is a link is left out, too', async () => {
    const outside = project({ 'copilot-instructions.md': 'SECRET' });
    const root = project({});
    symlinkSync(outside, join(root, '.github'));
    const { prompt } = await promptIn(root);
    expect(prompt).not.toContain('SECRET');
  });

  test('does not fill the prompt in numbers either', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 10 }, (_, index) => [
        `.github/instructions/${index}.instructions.md`,
        `${index}`.repeat(60_000),
      ]),
    );
    const { prompt, session } = await promptIn(project(files));
    expect(prompt.length).toBeLessThan(270_000);
    expect(warningsOf(session)).toHaveLength(6);
  });
});

test('of thousands of instruction files the first 200 are read, and a warning says how many are not', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1500 }, (_, index) => [
      `.github/instructions/${index}.instructions.md`,
      `WORD${index}`,
    ]),
  );
  const root = project({ 'AGENTS.md': 'GENERAL', ...files });
  const { prompt, session } = await promptIn(root);
  expect(prompt.match(/WORD\d+/g)).toHaveLength(200);
  expect(prompt).toContain('GENERAL');
  const directory = join(root, '.github/instructions');
  const message = `1300 files of ${directory} are left out: at most 200 files of instructions are read`;
  expect(warningsOf(session)).toEqual([{ warningType: 'system_message', message }]);
});

test('what a project has can be looked up without a session', async () => {
  const root = project({ 'AGENTS.md': 'Rules.' });
  const search = { projectPaths: [root], excludeHostInstructions: true };
  expect(await runtime.client.call('instructions.discover', search)).toEqual({
    sources: [
      {
        id: join(root, 'AGENTS.md'),
        label: 'AGENTS.md',
        sourcePath: join(root, 'AGENTS.md'),
        content: 'Rules.',
        type: 'model',
        location: 'working-directory',
        projectPath: root,
      },
    ],
  });
  expect(await runtime.client.call('instructions.getDiscoveryPaths', search)).toEqual({
    paths: [
      ['.github/copilot-instructions.md', 'file', false],
      ['AGENTS.md', 'file', true],
      ['.github/instructions', 'directory', false],
    ].map(([name, kind, preferredForCreation]) => ({
      path: join(root, String(name)),
      kind,
      preferredForCreation,
      location: 'working-directory',
      projectPath: root,
    })),
  });
});
