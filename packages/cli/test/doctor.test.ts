import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();
const store = () => join(world.homePath, 'groundcrew.db');

/** Two sessions of one turn each. */
async function talk(): Promise<Readonly<Record<string, string>>> {
  const { baseUrl } = world.script(say('one'), say('two'), say('three'));
  const environment = { GROUNDCREW_BASE_URL: baseUrl, GROUNDCREW_MODEL: 'scripted' };
  for (const id of ['red', 'blue']) await world.run(['-p', 'Hello', '--session-id', id], { environment });
  return environment;
}

/** Damages the answer `one` in its record and in the snapshot after it: a session can do without one of the two. */
function damageAnswer(): void {
  const bytes = readFileSync(store());
  for (const text of ['"content":"one"', '"text":"one"'])
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at))
      bytes.fill('X', at, at + text.length);
  writeFileSync(store(), bytes);
}

test('a home without sessions and a sound store are in order', async () => {
  const environment = { GROUNDCREW_BWRAP: '/missing/bwrap' };
  expect(await world.run(['doctor'], { environment })).toEqual({
    code: 0,
    stdout: `note: no key of a model service: the offline model answers. Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GROUNDCREW_BASE_URL, or name a provider in config.json.\nNo MCP server is named; groundcrew mcp add names one.\nPorts of this machine can be opened: groundcrew serve and inspect can listen.\nnote: no sandbox for commands: bubblewrap is not installed (/missing/bwrap, which GROUNDCREW_BWRAP names, is not there): apt-get install bubblewrap, dnf install bubblewrap or apk add bubblewrap\nnote: There is no store at ${store()} yet.\nNo problems found.\n`,
    stderr: '',
  });
  expect(readdirSync(world.homePath)).toEqual([]);
  await talk();
  const { code, stdout } = await world.run(['doctor', '--home', world.homePath]);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/groundcrew\.db: 2 sessions, \d+ records, version 6\nNo problems found\.\n$/),
  ]);
});

test('a damaged store is reported, recovered, and kept', async () => {
  const environment = await talk();
  damageAnswer();
  const found = await world.run(['doctor', '--check']);
  expect([found.code, found.stdout]).toEqual([
    1,
    expect.stringMatching(
      /problem: Session red: \d+ of \d+ records can be read; record \d+ is not what was written\.\n1 problem found\.\nRun groundcrew doctor without --check to put this right\.\n$/,
    ),
  ]);
  const repaired = await world.run(['doctor']);
  expect([repaired.code, repaired.stderr]).toEqual([0, '']);
  expect(repaired.stdout.split('\n').slice(-5)).toEqual([
    expect.stringMatching(/^Recovered 2 sessions with \d+ records into a new file\.$/),
    expect.stringMatching(/^Session red now ends after record \d+ of \d+, and says so\.$/),
    expect.stringMatching(/^The damaged store is kept as .*groundcrew\.db\.damaged-[\dTZ-]+\.$/),
    'The store is in order.',
    '',
  ]);
  const red = await world.run(['sessions', 'export', 'red']);
  expect(JSON.parse(red.stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
    type: 'session.warning',
    data: { warningType: 'store_recovered' },
  });
  expect((await world.run(['sessions', 'show', 'blue'])).stdout).toContain('two');
  expect(await world.run(['-p', 'Go on', '--resume', 'red'], { environment })).toEqual({
    code: 0,
    stdout: 'three\n',
    stderr: '',
  });
  expect((await world.run(['doctor', '--check'])).code).toBe(0);
});

test('an empty file is reported: whatever it held is lost', async () => {
  writeFileSync(store(), '', { mode: 0o600 });
  const { code, stdout } = await world.run(['doctor']);
  expect(code).toBe(1);
  expect(stdout).toContain(
    `problem: ${store()} is empty: it holds no session. If there were any, put a backup in its place; otherwise the next start makes a new store of it.\n1 problem found.\n`,
  );
  expect(statSync(store()).size).toBe(0);
});

test('directories of sessions that are no more are removed, those of other programs are not', async () => {
  await talk();
  const directory = (...names: string[]) => join(world.homePath, 'session-state', ...names);
  mkdirSync(directory('gone', 'files'), { recursive: true });
  writeFileSync(directory('gone', 'plan.md'), 'a plan');
  mkdirSync(directory('.deleted-99', 'files'), { recursive: true });
  mkdirSync(directory('foreign'), { recursive: true });
  writeFileSync(directory('foreign', 'events.jsonl'), '{}');
  expect((await world.run(['doctor', '--check'])).stdout).toContain(
    'note: Deleted sessions left 2 directories.',
  );
  const { code, stdout } = await world.run(['doctor']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Removed 2 directories of deleted sessions.')]);
  expect(readdirSync(directory()).sort()).toEqual(['blue', 'foreign', 'red']);
});

test('a store that cannot give space back is rewritten', async () => {
  await talk();
  const script = `
    const { DatabaseSync } = process.getBuiltinModule?.('node:sqlite') ?? require('@groundcrew/sqlite-node20');
    new DatabaseSync(process.argv[1]).exec('PRAGMA auto_vacuum = NONE; VACUUM');`;
  execFileSync(process.execPath, ['-e', script, store()], { cwd: import.meta.dirname, stdio: 'ignore' });
  expect((await world.run(['doctor', '--check'])).stdout).toContain('was made by an earlier version');
  const { code, stdout } = await world.run(['doctor']);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`Rewrote ${store()}`)]);
  expect((await world.run(['doctor'])).stdout).toMatch(/2 sessions, .*\nNo problems found\.\n$/);
});

test('a file that is not ours is reported and never touched', async () => {
  writeFileSync(store(), 'somebody wants to keep this '.repeat(200), { mode: 0o600 });
  const before = readFileSync(store());
  const outcomes = [await world.run(['doctor', '--check']), await world.run(['doctor'])];
  expect(outcomes.map(({ code }) => code)).toEqual([1, 1]);
  expect(outcomes[1]?.stderr).toBe(
    `groundcrew: Nothing in ${store()} looks like a session, so it was left alone. Move it away to begin anew.\n`,
  );
  expect(readFileSync(store()).equals(before)).toBe(true);
});

test('a backup is one private file that holds all sessions, and is not written over another', async () => {
  await talk();
  const copies = join(world.home.path, 'copies');
  rmSync(copies, { recursive: true, force: true });
  mkdirSync(copies);
  const target = join(copies, 'groundcrew.db');
  const first = await world.run(['backup', target]);
  expect([first.code, first.stdout]).toEqual([
    0,
    expect.stringMatching(/copies\/groundcrew\.db: 2 sessions, \d+ records\n$/),
  ]);
  expect((statSync(target).mode & 0o777).toString(8)).toBe('600');
  expect(await world.run(['backup', target])).toEqual({
    code: 1,
    stdout: '',
    stderr: `groundcrew: ${target} is there already; --force replaces it\n`,
  });
  expect((await world.run(['backup', target, '--force'])).code).toBe(0);
  expect(readdirSync(copies)).toEqual(['groundcrew.db']);
  const listed = await world.run(['sessions', 'ls'], { environment: { GROUNDCREW_HOME: copies } });
  expect(listed.stdout.match(/red|blue/g)?.sort()).toEqual(['blue', 'red']);
});

test('a backup of nothing is an error', async () => {
  expect(await world.run(['backup', 'copy.db'])).toEqual({
    code: 1,
    stdout: '',
    stderr: `groundcrew: There is no store at ${store()}\n`,
  });
});

test('keys, MCP servers and settings are explained in words, with what to do', async () => {
  const environment = { GROUNDCREW_BASE_URL: 'http://127.0.0.1:9/v1', GROUNDCREW_MODEL: 'tiny' };
  const servers = {
    here: { command: process.execPath },
    gone: { command: 'no-such-program' },
    web: { type: 'http', url: 'nowhere at all' },
  };
  writeFileSync(join(world.homePath, 'mcp.json'), JSON.stringify({ mcpServers: servers }));
  const { code, stdout } = await world.run(['doctor'], { environment });
  expect([code, stdout.split('\n').slice(0, 4)]).toEqual([
    1,
    [
      'The model service is http://127.0.0.1:9/v1, by GROUNDCREW_BASE_URL, model tiny; groundcrew models asks it.',
      'MCP servers: here, gone, web; groundcrew mcp test NAME starts one.',
      'problem: the MCP server gone cannot start: there is no program no-such-program. Install it, or correct the server in mcp.json.',
      'problem: the MCP server web cannot be reached: nowhere at all is no address. Correct the server in mcp.json.',
    ],
  ]);
  const astray = { OPENAI_API_KEY: 'sk-astray', OPENAI_BASE_URL: 'nowhere' };
  const [first] = (await world.run(['doctor', '--check'], { environment: astray })).stdout.split('\n');
  expect(first).toBe(
    'problem: the model service has no address: nowhere, by OPENAI_API_KEY, is none of http or https. Correct it where it is set, beside the key.',
  );
  writeFileSync(join(world.homePath, 'mcp.json'), '{');
  writeFileSync(join(world.homePath, 'config.json'), '{ "logLevel": 7 }');
  const broken = await world.run(['doctor', '--check']);
  expect([broken.code, broken.stdout]).toEqual([
    1,
    expect.stringMatching(
      /^problem: the settings cannot be used: .*logLevel.*\. Correct them\.\nproblem: the MCP servers cannot be read: /,
    ),
  ]);
});

/** The problems that are said, without what the machine is like. */
async function problems(environment: Readonly<Record<string, string>> = {}): Promise<readonly string[]> {
  const { code, stdout, stderr } = await world.run(['doctor', '--check'], { environment });
  const found = stdout.split('\n').filter((line) => line.startsWith('problem: '));
  // Reasons in words, and never where in the program something failed.
  expect(`${stdout}${stderr}`).not.toMatch(/\n\s+at |TypeError/);
  expect([code, stderr]).toEqual([found.length > 0 ? 1 : 0, '']);
  return found;
}

test('a home that cannot be one is explained: something in its way, a pipe or a directory for a file', async () => {
  const file = join(world.homePath, 'file');
  writeFileSync(file, '');
  for (const home of [file, join(file, 'below')])
    expect(await problems({ GROUNDCREW_HOME: home })).toEqual([
      `problem: the home ${home} cannot be there: ${file} is no directory. Move it away, or name another home by GROUNDCREW_HOME.`,
      expect.stringMatching(/^problem: the settings cannot be used: .*config\.json: cannot be read: ENOTDIR/),
    ]);
  const config = join(world.homePath, 'config.json');
  for (const make of [() => execFileSync('mkfifo', [config]), () => mkdirSync(config)]) {
    make();
    expect(await problems()).toEqual([
      `problem: the settings cannot be used: ${config}: cannot be read: ${config} is no plain file. Correct them.`,
    ]);
    rmSync(config, { recursive: true });
  }
  for (const make of [() => execFileSync('mkfifo', [store()]), () => mkdirSync(store())]) {
    make();
    expect(await problems()).toEqual([
      `problem: ${store()} is no file, so no session can be kept in it. Move it away, or name another home.`,
    ]);
    rmSync(store(), { recursive: true });
  }
});

test('a key that no request can carry, and the servers of a project, are explained', async () => {
  const noKey =
    'problem: the key by OPENAI_API_KEY has what no key has: an end of line, a blank, a foreign letter, or quotation marks around it. Copy it anew.';
  for (const OPENAI_API_KEY of ['sk-x\ny', 'sk-x\n', '"sk-x"', "'sk-x'", 'sk-ü', 'sk x'])
    expect(await problems({ OPENAI_API_KEY })).toEqual([noKey]);
  for (const OPENAI_API_KEY of ['sk-x', ' sk-x ']) expect(await problems({ OPENAI_API_KEY })).toEqual([]);
  expect(await problems({ OLLAMA_HOST: 'http://[' })).toEqual([
    'problem: the model service has no address: OLLAMA_HOST is no address: http://[. Correct it, such as http://127.0.0.1:11434.',
  ]);
  const file = join(world.workingDirectory, '.mcp.json');
  const servers = { gone: { command: 'no-such-program' }, off: { command: 'none-either', disabled: true } };
  try {
    writeFileSync(file, JSON.stringify({ mcpServers: servers }));
    expect(await problems()).toEqual([
      'problem: the MCP server gone cannot start: there is no program no-such-program. Install it, or correct the server in .mcp.json.',
    ]);
    writeFileSync(file, '{');
    expect(await problems()).toEqual([
      expect.stringMatching(
        /^problem: the MCP servers of this project cannot be read: .*\.mcp\.json:1:2: .*\. Correct the file\.$/,
      ),
    ]);
  } finally {
    rmSync(file);
  }
});

/** Mounts something small and runs a script in it, where this machine lets one do so. */
const inSmallDisk = (script: string, environment: Readonly<Record<string, string>>) =>
  spawnSync(
    'unshare',
    ['-rm', 'sh', '-c', `mount -t tmpfs -o size=256k none "$GROUNDCREW_HOME" && ${script}`],
    {
      env: { PATH: process.env.PATH ?? '', ...environment },
      encoding: 'utf8',
    },
  );
const canMount = inSmallDisk('true', { GROUNDCREW_HOME: world.home.path }).status === 0;

test.skipIf(!canMount)('a disk that is full is explained before a session is lost on it', () => {
  const program = join(import.meta.dirname, '../bin/groundcrew.js');
  const run = `'${process.execPath}' '${program}'`;
  const fill = 'head -c 300000 /dev/zero > "$GROUNDCREW_HOME/fill" 2>/dev/null';
  const { stdout } = inSmallDisk(`{ ${fill}; ${run} doctor --check; echo "code $?"; }`, {
    HOME: world.home.path,
    GROUNDCREW_HOME: world.homePath,
  });
  expect(stdout).toContain(
    `problem: there is hardly any space left where the home ${world.homePath} is: 0 KiB. Free some space, or name another home by GROUNDCREW_HOME.\n`,
  );
  expect(stdout).toMatch(/code 1\n$/);
});

test('a command that is started where no directory is any more says so', async () => {
  const gone = join(world.home.path, 'gone');
  const program = join(import.meta.dirname, '../bin/groundcrew.js');
  const script = 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"';
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', script, gone, process.execPath, program, 'doctor'],
    {
      env: { PATH: process.env.PATH ?? '', HOME: world.home.path, GROUNDCREW_HOME: world.homePath },
      encoding: 'utf8',
    },
  );
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'groundcrew: The directory that this was started in is not there any more: change to another one\n',
  });
});
