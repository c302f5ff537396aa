import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type CompletionMessage, callTools, liveRuntime, say, story } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
let places = 0;

/** A directory of its own, with these files. */
function place(files: Readonly<Record<string, string>> = {}): string {
  places += 1;
  const directory = join(runtime.home.path, `place-${places}`);
  mkdirSync(directory, { recursive: true });
  put(directory, files);
  return directory;
}

function put(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
}

const skill = (name: string, description: string, body = `Do as ${name} says.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
const pdf = skill('pdf', 'Fills in PDF forms');
const use = (args: object, id = 'c1') => callTools({ id, name: 'skill', arguments: args });
const textOf = ({ content }: CompletionMessage) => JSON.stringify(content);
const systemOf = (messages: readonly CompletionMessage[] = []) => String(messages[0]?.content);
const listedIn = (messages: readonly CompletionMessage[] = []) =>
  [...systemOf(messages).matchAll(/<skill><name>(.*?)<\/name><description>(.*?)<\/description>/g)].map(
    ([, name, description]) => `${name}: ${description}`,
  );

test('the prompt names skills, the tool brings the text after its result, and clients learn of it', async () => {
  const skills = place({ 'pdf/SKILL.md': pdf });
  const { session, model } = await runtime.session([use({ skill: 'pdf' }), say('Done')], {
    skillDirectories: [skills],
  });
  const events = await session.turn('Fill in the form');
  expect(listedIn(model.requests[0]?.body.messages)).toEqual(['pdf: Fills in PDF forms']);
  expect(systemOf(model.requests[0]?.body.messages)).not.toContain('Do as pdf says');
  expect(model.requests[1]?.body.messages.slice(-2)).toEqual([
    {
      role: 'tool',
      tool_call_id: 'c1',
      content: 'Skill "pdf" loaded successfully. Follow the instructions in the skill context.',
    },
    {
      role: 'user',
      content: `<skill-context name="pdf">\nBase directory for this skill: ${skills}/pdf\n\nDo as pdf says.\n\n</skill-context>`,
    },
  ]);
  const invoked = events.find(({ type }) => type === 'skill.invoked');
  expect(invoked?.data).toEqual({
    name: 'pdf',
    path: join(skills, 'pdf/SKILL.md'),
    content: 'Do as pdf says.',
    description: 'Fills in PDF forms',
    source: 'custom',
    trigger: 'agent-invoked',
  });
  expect(await session.call('session.skills.getInvoked')).toEqual({
    skills: [
      { name: 'pdf', path: join(skills, 'pdf/SKILL.md'), content: 'Do as pdf says.', invokedAtTurn: 0 },
    ],
  });
});

test('a skill that does not exist is a failure that names those that do', async () => {
  const skills = place({ 'a/SKILL.md': skill('a', 'A'), 'b/SKILL.md': skill('b', 'B') });
  const { session } = await runtime.session([use({ skill: 'nope' }), say('Oh')], {
    skillDirectories: [skills],
  });
  expect(story(await session.turn('Go'))).toContain(
    'tool.execution_complete c1 failure "Skill \\"nope\\" not found. Available skills: a, b"',
  );
});

test('further files come by the tool, and no path or link leads out of the folder', async () => {
  const skills = place({ 'pdf/SKILL.md': pdf, 'pdf/docs/forms.md': 'Boxes first.', 'secret.txt': 'secret' });
  symlinkSync(join(skills, 'secret.txt'), join(skills, 'pdf/link.txt'));
  const files = ['docs/forms.md', '../secret.txt', 'link.txt', '/etc/passwd', 'gone.md'];
  const calls = callTools(
    ...files.map((file, index) => ({ id: `c${index}`, name: 'skill', arguments: { skill: 'pdf', file } })),
  );
  const { session, model } = await runtime.session([calls, say('ok')], { skillDirectories: [skills] });
  await session.turn('Read');
  const results = model.requests[1]?.body.messages.flatMap(({ role, content }) =>
    role === 'tool' ? [content] : [],
  );
  expect(results).toEqual([
    'Boxes first.',
    'Skill "pdf": ../secret.txt is not inside the folder of the skill',
    'Skill "pdf": link.txt is not inside the folder of the skill',
    'Skill "pdf": there is no such file',
    'Skill "pdf": there is no such file',
  ]);
});

test('a change on the disk counts from the next prompt on', async () => {
  const skills = place({ 'pdf/SKILL.md': pdf });
  const { session, model } = await runtime.session([say('1'), say('2'), say('3'), say('4')], {
    skillDirectories: [skills],
  });
  await session.turn('One');
  put(skills, { 'pdf/SKILL.md': skill('pdf', 'Reads PDF files'), 'xls/SKILL.md': skill('xls', 'Tables') });
  await session.turn('Two');
  put(skills, { 'xls/SKILL.md': skill('xls', 'Big tables') });
  await session.turn('Three');
  rmSync(join(skills, 'pdf'), { recursive: true });
  await session.turn('Four');
  expect(model.requests.map(({ body }) => listedIn(body.messages))).toEqual([
    ['pdf: Fills in PDF forms'],
    ['pdf: Reads PDF files', 'xls: Tables'],
    ['pdf: Reads PDF files', 'xls: Big tables'],
    ['xls: Big tables'],
  ]);
});

test('bad frontmatter is a warning with file and line, and the other skills are there', async () => {
  const skills = place({
    'good/SKILL.md': skill('good', 'Good'),
    'colon/SKILL.md': '---\nname: colon\ndescription: use: this\n---\n',
    'open/SKILL.md': '---\nname: open\n',
    'nameless/SKILL.md': '---\ndescription: d\nname: [1]\n---\n',
    'mute/SKILL.md': '---\nname: mute\nlicense: MIT\n---\nText',
    'other/SKILL.md': '---\ndescription: d\n\nname: another\n---\n',
    'flag/SKILL.md': '---\ndescription: d\nuser-invocable: maybe\n---\n',
    'plain/readme.md': 'no skill',
  });
  const { session, model } = await runtime.session([say('1'), say('2')], { skillDirectories: [skills] });
  const warnings = story(await session.turn('Go')).filter((line) => line.startsWith('session.warning'));
  const at = (text: string) => `session.warning skills ${JSON.stringify(`${skills}/${text}`)}`;
  expect(warnings).toEqual([
    at('colon/SKILL.md:3: Nested mappings are not allowed in compact mappings'),
    at('mute/SKILL.md:1: description is missing: the model could not know when to use the skill'),
    at('nameless/SKILL.md:3: name must be up to 64 letters, digits, - _ . or :'),
    at('open/SKILL.md:1: the line --- that ends the frontmatter is missing'),
    at('flag/SKILL.md:3: user-invocable must be true or false'),
    at('other/SKILL.md:4: the skill is named another, and its folder other'),
  ]);
  expect(listedIn(model.requests[0]?.body.messages)).toEqual(['flag: d', 'good: Good', 'another: d']);
  expect(story(await session.turn('Again')).filter((line) => line.startsWith('session.warning'))).toEqual([]);
  const { errors, warnings: again } = await session.call<{ errors: string[]; warnings: string[] }>(
    'session.skills.reload',
  );
  expect([errors.length, again.length]).toEqual([4, 2]);
});

test('what stands earlier in the order of precedence hides the same name elsewhere', async () => {
  const named = (where: string) => ({ 's/SKILL.md': skill('s', where) });
  const first = place(named('first'));
  const work = place();
  put(join(work, '.groundcrew/skills'), named('groundcrew'));
  put(join(work, '.github/skills'), named('github'));
  put(join(work, '.claude/skills'), named('claude'));
  const configDir = place();
  put(join(configDir, 'skills'), named('configDir'));
  put(join(runtime.home.path, 'skills'), { ...named('home'), 'h/SKILL.md': skill('h', 'only at home') });
  const order: string[] = [];
  const where = [first, join(work, '.groundcrew'), join(work, '.github'), join(work, '.claude'), configDir];
  for (const gone of [undefined, ...where]) {
    if (gone !== undefined) rmSync(gone, { recursive: true });
    const { session, model } = await runtime.session([say('ok')], {
      workingDirectory: work,
      configDir,
      skillDirectories: [first],
    });
    await session.turn('Go');
    order.push(listedIn(model.requests[0]?.body.messages).join(', '));
  }
  rmSync(join(runtime.home.path, 'skills'), { recursive: true });
  expect(order).toEqual([
    's: first, h: only at home',
    's: groundcrew, h: only at home',
    's: github, h: only at home',
    's: claude, h: only at home',
    's: configDir, h: only at home',
    'h: only at home, s: home',
  ]);
});

test('skills of the project are read unless the app does not want that, and none with enableSkills false', async () => {
  const work = place();
  put(join(work, '.github/skills'), { 'p/SKILL.md': skill('p', 'of the project') });
  const own = place({ 'o/SKILL.md': skill('o', 'own') });
  const listed = async (params: object) => {
    const { session } = await runtime.session([], { workingDirectory: work, ...params });
    const { skills } = await session.call<{ skills: { name: string }[] }>('session.skills.list');
    return skills.map(({ name }) => name);
  };
  expect(await listed({ skillDirectories: [own] })).toEqual(['o', 'p']);
  expect(await listed({ skillDirectories: [own], enableConfigDiscovery: false })).toEqual(['o']);
  expect(await listed({ skillDirectories: [own], enableSkills: false })).toEqual([]);
});

test("a project's folder that is a link to another place is no skill", async () => {
  const elsewhere = place({ 'evil/SKILL.md': skill('evil', 'not of the project') });
  const work = place();
  mkdirSync(join(work, '.github/skills'), { recursive: true });
  symlinkSync(join(elsewhere, 'evil'), join(work, '.github/skills/evil'));
  const { session } = await runtime.session([], { workingDirectory: work });
  expect(await session.call('session.skills.list')).toEqual({ skills: [] });
  expect(await session.call('session.skills.reload')).toEqual({
    warnings: [],
    errors: [`${work}/.github/skills/evil: the folder is a link to another place`],
  });
});

test("a project's directory of skills that leads out of the project is none, and one that leads within it is", async () => {
  const elsewhere = place({ 'evil/SKILL.md': skill('evil', 'not of the project') });
  const work = place({ 'shared/skills/good/SKILL.md': skill('good', 'of the project') });
  mkdirSync(join(work, '.github'), { recursive: true });
  mkdirSync(join(work, '.claude'), { recursive: true });
  symlinkSync(elsewhere, join(work, '.github/skills'));
  symlinkSync('../shared/skills', join(work, '.claude/skills'));
  const { session } = await runtime.session([], { workingDirectory: work });
  expect(await session.call('session.skills.list')).toMatchObject({ skills: [{ name: 'good' }] });
  expect(await session.call('session.skills.reload')).toEqual({
    warnings: [],
    errors: [`${work}/.github/skills: the directory is a link to a place outside of the project`],
  });
});

test('disabled skills are listed and not offered; switches outlive the process', async () => {
  const skills = place({ 'a/SKILL.md': skill('a', 'A'), 'b/SKILL.md': skill('b', 'B') });
  const process = runtime.spawn({ flags: ['--stdio'] });
  const client = await runtime.connect(process, { hasGaps: true });
  const model = runtime.script(say('1'), say('2'), say('3'));
  const provider = { baseUrl: model.baseUrl, apiKey: 'k' };
  const session = await client.create({
    model: 'scripted',
    provider,
    skillDirectories: [skills],
    disabledSkills: ['a'],
  });
  const flags = async (of = session) =>
    (await of.call<{ skills: { name: string; enabled: boolean }[] }>('session.skills.list')).skills.map(
      ({ name, enabled }) => `${name} ${enabled}`,
    );
  expect(await flags()).toEqual(['a false', 'b true']);
  await session.turn('One');
  await session.call('session.skills.enable', { name: 'a' });
  await session.call('session.skills.disable', { name: 'b' });
  await session.turn('Two');
  await process.signal('SIGKILL');
  const other = runtime.spawn({ flags: ['--stdio'] });
  const again = await (await runtime.connect(other, { hasGaps: true })).resume(session.sessionId, {
    model: 'scripted',
    provider,
  });
  expect(await flags(again)).toEqual(['a true', 'b false']);
  await again.turn('Three');
  expect(model.requests.map(({ body }) => listedIn(body.messages))).toEqual([['b: B'], ['a: A'], ['a: A']]);
});

test('skills are commands: the command is a prompt that begins with the skill', async () => {
  const skills = place({
    'pdf/SKILL.md': '---\nname: pdf\ndescription: P\nargument-hint: file\n---\nFill it in.',
    'quiet/SKILL.md': '---\nname: quiet\ndescription: Q\nuser-invocable: false\n---\n',
  });
  const { session, model } = await runtime.session([say('ok')], { skillDirectories: [skills] });
  expect(await session.call('session.commands.list', { includeBuiltins: false })).toEqual({
    commands: [
      {
        name: 'pdf',
        description: 'P',
        kind: 'skill',
        allowDuringAgentExecution: false,
        input: { hint: 'file' },
      },
    ],
  });
  expect(
    await session.call('session.commands.list', { includeSkills: false, includeBuiltins: false }),
  ).toEqual({ commands: [] });
  expect(await session.call('session.commands.execute', { commandName: 'pdf', args: 'form.pdf' })).toEqual(
    {},
  );
  const events = await session.untilIdle();
  expect(story(events)).toContain('user.message "/pdf form.pdf" idle 0');
  expect(events.find(({ type }) => type === 'skill.invoked')?.data).toMatchObject({
    trigger: 'user-invoked',
  });
  expect(textOf(model.requests[0]?.body.messages[1] ?? ({} as CompletionMessage))).toContain(
    'Fill it in.\\n\\n</skill-context>\\n\\nform.pdf',
  );
  expect(await session.call('session.commands.execute', { commandName: 'quiet' })).toEqual({
    error: 'Unknown command: quiet',
  });
});

test('500 skills take a bounded part of the prompt, and the others are found by search', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [
      `skill-${index}/SKILL.md`,
      skill(`skill-${index}`, `${index === 499 ? 'Repairs zeppelins' : 'Does things'} ${'x'.repeat(900)}`),
    ]),
  );
  const { session, model } = await runtime.session([use({ search: 'zeppelin repair' }), say('ok')], {
    skillDirectories: [place(files)],
  });
  const bare = await runtime.session([say('ok')]);
  await session.turn('Go');
  await bare.session.turn('Go');
  const [many, none] = [model, bare.model].map(({ requests }) => systemOf(requests[0]?.body.messages).length);
  expect((many ?? 0) - (none ?? 0)).toBeLessThan(9000);
  expect(systemOf(model.requests[0]?.body.messages)).toMatch(/\d+ more skills are not listed/);
  expect(textOf(model.requests[1]?.body.messages.at(-1) ?? ({} as CompletionMessage))).toContain(
    'skill-499: Repairs zeppelins',
  );
});

test('deny rules hold for what a skill reads', async () => {
  const configDir = place({ 'permissions.json': JSON.stringify({ deny: [{ path: '**/denied/**' }] }) });
  const skills = place({ 'denied/SKILL.md': skill('denied', 'D'), 'free/SKILL.md': skill('free', 'F') });
  const calls = callTools(
    { id: 'c1', name: 'skill', arguments: { skill: 'denied' } },
    { id: 'c2', name: 'skill', arguments: { skill: 'free' } },
  );
  const { session } = await runtime.session([calls, say('ok')], { skillDirectories: [skills], configDir });
  const events = await session.turn('Go');
  const invoked = events.flatMap(({ type, data }) => (type === 'skill.invoked' ? [data] : []));
  expect(invoked).toMatchObject([{ name: 'free' }]);
  expect(story(events).filter((line) => line.startsWith('tool.execution_complete c1'))[0]).toMatch(
    / denied "/,
  );
});

test('skills.discover finds them without a session, and disabled ones stay so for all sessions', async () => {
  const skills = place({ 'a/SKILL.md': skill('a', 'A') });
  const work = place();
  put(join(work, '.claude/skills'), { 'p/SKILL.md': skill('p', 'P') });
  const discover = () =>
    runtime.client.call<{ skills: { name: string; enabled: boolean; source: string }[] }>('skills.discover', {
      skillDirectories: [skills],
      projectPaths: [work],
    });
  const short = async () =>
    (await discover()).skills.map(({ name, enabled, source }) => `${name} ${enabled} ${source}`);
  expect(await short()).toEqual(['a true custom', 'p true project']);
  await runtime.client.call('skills.config.setDisabledSkills', { disabledSkills: ['a'] });
  await runtime.client.call('skills.config.setSkillDisabled', { name: 'p', disabled: true });
  expect(await short()).toEqual(['a false custom', 'p false project']);
  const tooMany = { disabledSkills: Array.from({ length: 5001 }, (_, index) => `s${index}`) };
  for (const wish of [tooMany, { disabledSkills: ['x'.repeat(1025)] }])
    expect(await runtime.client.failure('skills.config.setDisabledSkills', wish)).toMatchObject({
      message: expect.stringMatching(/at most (5000 skills|1024 characters)/i),
    });
  expect(await short()).toEqual(['a false custom', 'p false project']);
  const { session } = await runtime.session([], { skillDirectories: [skills] });
  expect(await session.call('session.skills.list')).toMatchObject({
    skills: [{ name: 'a', enabled: false }],
  });
  await runtime.client.call('skills.config.setDisabledSkills', { disabledSkills: [] });
  expect(await short()).toEqual(['a true custom', 'p true project']);
  const { paths } = await runtime.client.call<{ paths: object[] }>('skills.getDiscoveryPaths', {
    projectPaths: [work],
    excludeHostSkills: true,
  });
  expect(paths).toEqual(
    ['.groundcrew', '.github', '.claude'].map((folder) => ({
      path: join(work, folder, 'skills'),
      scope: 'project',
      preferredForCreation: folder === '.github',
      projectPath: work,
    })),
  );
});
