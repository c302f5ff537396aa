import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { hardenedEnvironment } from './hardened-environment.js';

const world = realpathSync(mkdtempSync(join(tmpdir(), 'hardened-')));
const work = join(world, 'work');
const canary = join(world, 'canary');
const plain = { PATH: process.env.PATH ?? '', HOME: world, GIT_CONFIG_NOSYSTEM: '1' };
afterAll(() => rmSync(world, { recursive: true }));

beforeEach(() => {
  rmSync(canary, { force: true });
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
});

/** Whether a command had the place run something of its own. */
function wasSteered(command: string, environment: Record<string, string>, cwd = work): boolean {
  try {
    execFileSync('/bin/bash', ['-c', command], { cwd, env: environment, stdio: 'ignore' });
  } catch {
    // Git fails where its settings are nonsense; what counts is what ran.
  }
  return existsSync(canary);
}

function git(cwd: string, ...words: string[]): void {
  const identity = [
    '-c',
    'user.name=x',
    '-c',
    'user.email=x@example.com',
    '-c',
    'protocol.file.allow=always',
  ];
  execFileSync('git', [...identity, ...words], { cwd, env: plain, stdio: 'ignore' });
}

function script(path: string): string {
  writeFileSync(path, `#!/bin/sh\ntouch ${canary}\n`);
  chmodSync(path, 0o755);
  return path;
}

function repository(at = work): void {
  mkdirSync(at, { recursive: true });
  git(at, 'init', '-q');
  writeFileSync(join(at, 'a'), 'a\n');
  git(at, 'add', 'a');
  git(at, 'commit', '-qm', 'x');
  writeFileSync(join(at, 'a'), 'bb\n');
}

describe('a hostile repository', () => {
  test.each([
    ['core.fsmonitor', 'git status', () => git(work, 'config', 'core.fsmonitor', script(join(work, 'run')))],
    [
      'a hook',
      'touch -d @1 a; git status',
      () => {
        mkdirSync(join(work, '.git/hooks'), { recursive: true });
        git(work, 'checkout', '-q', 'a');
        script(join(work, '.git/hooks/post-index-change'));
      },
    ],
    [
      'a program that checks signatures',
      'git log --format=%G?',
      () => {
        const signed = `tree ${'4b825dc642cb6eb9a060e54bf8d69288fbee4904'}\nauthor x <x> 1 +0000\ncommitter x <x> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nx\n`;
        const id = execFileSync('git', ['hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], {
          cwd: work,
          env: plain,
          input: signed,
        });
        git(work, 'update-ref', 'HEAD', String(id).trim());
        git(work, 'config', 'gpg.program', script(join(work, 'run')));
      },
    ],
  ])('runs nothing by %s', (_, command, prepare) => {
    repository();
    prepare();
    expect(wasSteered(command, hardenedEnvironment(plain, work))).toBe(false);
    expect(wasSteered(command, plain)).toBe(true);
  });

  test('that lies about as a bare one is not used', () => {
    git(work, 'init', '-q', '--bare');
    git(work, 'config', 'core.fsmonitor', script(join(work, 'run')));
    git(work, 'config', 'core.bare', 'false');
    git(work, 'config', 'core.worktree', work);
    expect(wasSteered('git status', hardenedEnvironment(plain, work))).toBe(false);
    expect(wasSteered('git status', plain)).toBe(true);
  });

  test('in a submodule runs nothing', () => {
    const inner = join(world, 'inner');
    repository(inner);
    repository();
    git(work, 'submodule', 'add', '-q', inner, 'sub');
    git(work, 'commit', '-qm', 'sub');
    git(join(work, 'sub'), 'config', 'core.fsmonitor', script(join(work, 'run')));
    for (const command of ['git status', 'git diff'])
      expect(wasSteered(command, hardenedEnvironment(plain, work))).toBe(false);
    expect(wasSteered('git status', plain)).toBe(true);
  });
});

describe('a hostile environment', () => {
  test('has no start file, no functions and no programs of the place', () => {
    const start = join(work, 'start');
    writeFileSync(start, `touch ${canary}\n`);
    script(join(work, 'ls'));
    const hostile: readonly Record<string, string>[] = [
      { BASH_ENV: start },
      { 'BASH_FUNC_ls%%': `() { touch ${canary}; }` },
      { PATH: `${work}:${plain.PATH}` },
      { PATH: `.:${plain.PATH}` },
    ];
    for (const steering of hostile) {
      rmSync(canary, { force: true });
      expect(wasSteered('ls', hardenedEnvironment({ ...plain, ...steering }, work))).toBe(false);
      expect(wasSteered('ls', { ...plain, ...steering })).toBe(true);
    }
  });

  test('has no programs of the repository around a working directory below its root', () => {
    repository();
    const below = join(work, 'packages', 'one');
    const bin = join(work, 'bin');
    for (const folder of [below, bin]) mkdirSync(folder, { recursive: true });
    script(join(bin, 'ls'));
    const hostile = { ...plain, PATH: `${bin}:${plain.PATH}` };
    expect(wasSteered('ls', hardenedEnvironment(hostile, below), below)).toBe(false);
    expect(wasSteered('ls', hostile, below)).toBe(true);
  });

  test('what is the user’s own stays', () => {
    const { PATH, HOME, LANG } = hardenedEnvironment({ ...plain, LANG: 'C' }, work);
    expect({ PATH, HOME, LANG }).toEqual({ PATH: plain.PATH, HOME: world, LANG: 'C' });
  });
});

test('no secret of the user is in it, and all else is', () => {
  const kept = {
    HOME: '/home/u',
    LANG: 'C.UTF-8',
    NODE_ENV: 'test',
    PWD: '/work',
    OLDPWD: '/',
    KEYBOARD: 'de',
    MONKEY_PATCH: '1',
    AUTHOR: 'x',
    DATABASE_URL: 'postgres://localhost:5432/db',
    REGISTRY: 'https://user@example.com/path:x@y',
  };
  const secrets = {
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
    AWS_SESSION_TOKEN: 'x',
    NPM_TOKEN: 'x',
    npm_config__auth: 'x',
    PGPASSWORD: 'x',
    MYSQL_PWD: 'x',
    GITHUB_PAT: 'x',
    SENTRY_DSN: 'x',
    STRIPE_API_KEY: 'x',
    SSH_AUTH_SOCK: '/tmp/agent',
    SLACK_WEBHOOK_URL: 'x',
    REDIS_URL: 'redis://:hidden@example.com',
    MONGO_URL: 'mongodb+srv://u:p@example.com/db',
    GOOGLE_APPLICATION_CREDENTIALS: '/x.json',
    SSL_PASSPHRASE: 'x',
  };
  const environment = hardenedEnvironment({ ...kept, ...secrets }, '/work');
  expect(environment).toMatchObject(kept);
  expect(Object.keys(environment).filter((name) => Object.hasOwn(secrets, name))).toEqual([]);
});
