import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  type CompletionMessage,
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedReply,
  say,
  story,
  type WireSession,
} from '@groundcrew/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { asked } from './asked.js';

const runtime = liveRuntime();
const rulesFile = (home = runtime.home.path) => join(home, 'permissions.json');
const write = (contents: object | string, home?: string) =>
  writeFileSync(rulesFile(home), typeof contents === 'string' ? contents : JSON.stringify(contents));
const place = (...names: string[]) => join(runtime.workingDirectory, ...names);

const call = (name: string, args: object, id = 'c1') => callTools({ id, name, arguments: args });
const bash = (command: string, id = 'c1') => call('bash', { command, description: 'Runs it' }, id);
const approveAll = (session: WireSession) =>
  session.call('session.permissions.setMode', { mode: 'allow-all' });

/** How the calls of a turn ended, in a session in which everything is approved. */
async function outcomes(replies: readonly ScriptedReply[], settings: object = {}) {
  const { session, model } = await runtime.session([...replies, say('done')], { ...settings });
  await approveAll(session);
  return { lines: completions(await session.turn('Go')), model, session };
}

const completions = (events: Parameters<typeof story>[0]) =>
  story(events).filter((line) => line.startsWith('tool.execution_complete'));
const denied = (rule: string, id = 'c1') =>
  `tool.execution_complete ${id} denied "Permission denied by rules: ${rule} (permissions.json, line 1)"`;

afterEach(() => rmSync(rulesFile(), { force: true }));

describe('rules of the home', () => {
  test('deny an address that a page only leads to', async () => {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      response.writeHead(302, { location: '/private' }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    write({ deny: [{ url: `${url}/private` }] });
    const environment = { GROUNDCREW_FETCH_HOSTS: '127.0.0.1' };
    const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], environment }));
    const model = runtime.script(call('web_fetch', { url }), say('done'));
    const session = await client.create(providerOf(model));
    await approveAll(session);
    expect(completions(await session.turn('Go'))).toEqual([denied(`url(${url}/private)`)]);
    expect(paths).toEqual(['/']);
    server.close();
  });

  test('deny a command, a path, an address and a tool, in any mode', async () => {
    mkdirSync(place('private'), { recursive: true });
    writeFileSync(place('private', 'key'), 'the key');
    write({
      deny: [{ command: 'touch' }, { path: 'private' }, { url: 'example.invalid' }, { tool: 'sql' }],
    });
    const calls = callTools(
      { id: 'c1', name: 'bash', arguments: { command: 'touch made', description: 'd' } },
      { id: 'c2', name: 'view', arguments: { path: 'private/key' } },
      { id: 'c3', name: 'web_fetch', arguments: { url: 'https://www.example.invalid/x' } },
      { id: 'c4', name: 'sql', arguments: { description: 'd', query: 'SELECT 1' } },
      { id: 'c5', name: 'bash', arguments: { command: 'cat private/key', description: 'd' } },
    );
    const { lines } = await outcomes([calls]);
    expect([...lines].sort()).toEqual([
      denied('shell(touch)', 'c1'),
      denied('path(private)', 'c2'),
      denied('url(example.invalid)', 'c3'),
      denied('tool(sql)', 'c4'),
      denied('path(private)', 'c5'),
    ]);
    expect(existsSync(place('made'))).toBe(false);
  });

  test('allow without a question what they name, and nothing more', async () => {
    write({ allow: [{ command: 'touch *' }, { path: 'open', access: 'write' }] });
    mkdirSync(place('open'), { recursive: true });
    const { session } = await runtime.session([
      bash('touch a'),
      say('1'),
      bash('touch a; rm a', 'c2'),
      say('2'),
      call('create', { path: 'open/new', file_text: 'x' }, 'c3'),
      say('3'),
      call('view', { path: 'open/new' }, 'c4'),
      say('4'),
    ]);
    const questions = [];
    for (const prompt of ['Touch', 'Touch and remove', 'Create', 'View'])
      questions.push(await asked(session, prompt));
    expect(questions).toEqual([0, 1, 0, 1]);
  });

  test('hold for links and by every name of a path', async () => {
    mkdirSync(place('vault'), { recursive: true });
    writeFileSync(place('vault', 'a.txt'), 'in the vault');
    symlinkSync(place('vault'), place('alias'));
    write({ deny: [{ path: 'vault' }] });
    const paths = ['alias/a.txt', 'vault/../vault/a.txt', `${runtime.workingDirectory}/./alias/a.txt`];
    if (process.platform === 'linux') paths.push('/proc/self/cwd/vault/a.txt');
    for (const path of paths) {
      const { lines, model } = await outcomes([call('view', { path })]);
      expect(lines).toEqual([denied('path(vault)')]);
      expect(JSON.stringify(model.requests)).not.toContain('in the vault');
    }
    const { lines } = await outcomes([call('edit', { path: 'alias/a.txt', old_str: 'in', new_str: 'out' })]);
    expect(lines).toEqual([denied('path(vault)')]);
  });

  test('keep a search out of what may not be read', async () => {
    mkdirSync(place('searched', 'hidden'), { recursive: true });
    writeFileSync(place('searched', 'hidden', 'a.txt'), 'needle in the dark');
    writeFileSync(place('searched', 'b.txt'), 'needle in the light');
    writeFileSync(place('searched', 'c.key'), 'needle of a key');
    write({ deny: [{ path: 'searched/hidden' }, { path: '**/*.key' }] });
    const wanted = { pattern: 'needle', output_mode: 'content' };
    for (const path of ['searched', '.', place('searched')]) {
      const { model } = await outcomes([call('grep', { ...wanted, path })]);
      const text = JSON.stringify(model.requests[1]?.body.messages.at(-1));
      expect(text).toContain('needle in the light');
      expect(text).not.toMatch(/in the dark|of a key/);
    }
    const { model } = await outcomes([call('glob', { pattern: 'searched/**' })]);
    const found = model.requests[1]?.body.messages.findLast(({ role }) => role === 'tool')?.content;
    expect(found).toBe('./searched/b.txt');
  });

  test('can deny every tool there is', async () => {
    const { model } = await outcomes([]);
    const tools = model.requests[0]?.body.tools?.map((tool) => tool.function.name) ?? [];
    expect(tools).toContain('bash');
    write({ deny: tools.map((tool) => ({ tool })) });
    const { lines } = await outcomes([
      callTools(...tools.map((name) => ({ id: name, name, arguments: {} }))),
    ]);
    expect([...lines].sort()).toEqual(tools.map((name) => denied(`tool(${name})`, name)).sort());
  });

  test('count for a session with a home of its own too, beside the rules there', async () => {
    const configDir = join(runtime.home.path, 'own-home');
    mkdirSync(configDir, { recursive: true });
    write({ deny: [{ command: 'touch' }] });
    write({ deny: [{ command: 'mkdir' }] }, configDir);
    const both = callTools(
      { id: 'c1', name: 'bash', arguments: { command: 'touch made', description: 'd' } },
      { id: 'c2', name: 'bash', arguments: { command: 'mkdir made', description: 'd' } },
    );
    const { lines } = await outcomes([both], { configDir });
    expect([...lines].sort()).toEqual([denied('shell(touch)', 'c1'), denied('shell(mkdir)', 'c2')]);
  });

  test('are read again when they change, in the midst of a session', async () => {
    write({ deny: [{ command: 'touch' }] });
    const { session } = await runtime.session([
      bash('touch later'),
      say('1'),
      bash('touch later', 'c2'),
      say('2'),
    ]);
    await approveAll(session);
    expect(completions(await session.turn('Touch'))).toEqual([denied('shell(touch)')]);
    write({ deny: [] });
    await session.turn('Touch');
    expect(existsSync(place('later'))).toBe(true);
  });
});

describe('rules that cannot be read', () => {
  const lastTool = (messages: readonly CompletionMessage[] = []) =>
    messages.findLast(({ role }) => role === 'tool')?.content;

  test('stop every tool, say where the mistake is, and once only', async () => {
    write('{\n  "deny": [\n    { "comand": "rm" }\n  ]\n}');
    const problem = `${rulesFile()}:3:7: deny[0].comand: unknown field; known are tool, command, path, url, access. No tool runs until this is fixed.`;
    const { session, model } = await runtime.session([
      bash('touch no'),
      say('1'),
      bash('touch no', 'c2'),
      say('2'),
    ]);
    await approveAll(session);
    const events = await session.turn('Touch');
    const warnings = events.filter(({ type }) => type === 'session.warning').map(({ data }) => data);
    expect(warnings).toEqual([{ warningType: 'permissions', message: problem }]);
    expect(lastTool(model.requests[1]?.body.messages)).toBe(`Permission denied: ${problem}`);
    const more = await session.turn('Touch');
    expect(more.filter(({ type }) => type === 'session.warning')).toEqual([]);
    expect(existsSync(place('no'))).toBe(false);
  });

  test('a mistake made in the midst of a session stops the next call, and mending it lets it go on', async () => {
    const { session } = await runtime.session([bash('touch up'), say('1'), bash('touch up', 'c2'), say('2')]);
    await approveAll(session);
    write('{');
    expect(completions(await session.turn('Touch'))).toEqual([
      expect.stringMatching(
        /^tool\.execution_complete c1 denied "Permission denied: .*:1:2: expected a name/,
      ),
    ]);
    write({});
    await session.turn('Touch');
    expect(existsSync(place('up'))).toBe(true);
  });

  test('a mistake made in the midst of a turn causes a warning in that turn', async () => {
    // No sandbox shows the rules.
    const { session } = await runtime.session(
      [bash(`printf { > '${rulesFile()}'`), bash('touch no', 'c2'), say('1')],
      { sandbox: 'host' },
    );
    await approveAll(session);
    await session.send('Break the rules');
    expect((await session.next('session.warning')).data.message).toContain(
      'permissions.json:1:2: expected a name',
    );
    await session.next('session.idle');
    expect(existsSync(place('no'))).toBe(false);
  });

  test('more rules than can be looked at before each call, or longer ones, stop every tool and say so', async () => {
    const rule = { command: 'rm' };
    const wrong = [
      [{ deny: Array(2001).fill(rule) }, ':1:9: deny: at most 2000 rules, not 2001.'],
      [{ allow: [{ path: 'x'.repeat(4097) }] }, ':1:19: allow[0].path: at most 4096 characters, not 4097.'],
      [' '.repeat(1024 * 1024 + 1), ': has 1048577 bytes; rules have at most 1048576.'],
    ] as const;
    for (const [contents, problem] of wrong) {
      write(contents);
      const { lines } = await outcomes([bash('touch no')]);
      expect(lines.join()).toContain(`${rulesFile()}${problem} No tool runs until this is fixed.`);
    }
    write({ deny: Array(2000).fill(rule) });
    expect((await outcomes([bash('true')])).lines.join()).toMatch(/^tool\.execution_complete c1 (?!denied)/);
    expect(existsSync(place('no'))).toBe(false);
  });

  test('a directory in the place of the file stops every tool as well', async () => {
    mkdirSync(rulesFile());
    const { lines } = await outcomes([bash('touch no')]);
    rmSync(rulesFile(), { recursive: true });
    expect(lines).toEqual([expect.stringContaining('cannot be read')]);
  });

  test('what a person types is stopped too', async () => {
    write('[]');
    const { session } = await runtime.session([]);
    const failure = await session.failure('session.shell.exec', { command: 'touch no' });
    expect(failure.message).toContain('permissions.json:1:1: the file: expected an object');
  });
});

test('approvals are stored without any secret of the session', async () => {
  const { session, model } = await runtime.session([bash('touch here'), say('1')]);
  const approval = { kind: 'commands', commandIdentifiers: ['touch'] };
  await asked(session, 'Touch', { kind: 'approve-for-location', approval, locationKey: place() });
  expect(providerOf(model).provider.apiKey).toBe('key-of-the-tests');
  expect(readFileSync(join(runtime.home.path, 'permissions-config.json'), 'utf8')).not.toContain(
    'key-of-the-tests',
  );
});
