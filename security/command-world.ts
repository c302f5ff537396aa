import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A command that would run unasked. */
export interface Unasked {
  readonly command: string;
  /** It counts as one that only reads; otherwise an approval covers it. */
  readonly onlyReads: boolean;
  readonly environment: Readonly<Record<string, string>>;
}

/** A directory to work in, one outside of it, and the shell that runs commands there. */
export class CommandWorld {
  private readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'attack-commands-')));
  private readonly pristine = join(this.root, 'pristine');
  private readonly secretText = randomUUID();
  /** All that runs carries it in its environment. */
  private readonly mark = randomUUID();
  private readonly jail: readonly string[];
  readonly work = join(this.root, 'work');
  readonly outside = join(this.root, 'outside');
  readonly canary = join(this.outside, 'canary');
  readonly secret = join(this.outside, 'secret');

  constructor() {
    mkdirSync(this.outside);
    writeFileSync(this.secret, `${this.secretText}\n`);
    this.build();
    this.jail = jailAround(this.root);
    this.reset();
  }

  /** A plain environment, as a session's commands have it. */
  get environment(): Record<string, string> {
    return {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: this.root,
      LC_ALL: 'C',
      ATTACK: this.mark,
      GIT_CONFIG_NOSYSTEM: '1',
    };
  }

  /** Runs commands one after the other; what of them did more than they may, in words. */
  run(batch: readonly Unasked[]): readonly string[] {
    const faults = this.runTogether(batch);
    if (faults.length === 0 || batch.length === 1) return faults;
    const [first, second] = [batch.slice(0, batch.length / 2), batch.slice(batch.length / 2)];
    const found = [...this.run(first), ...this.run(second)];
    return found.length > 0 ? found : faults;
  }

  /** Processes that are still there. */
  survivors(): readonly string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(this.mark))
      .map((pid) => `the process ${pid} outlived its command`);
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private runTogether(batch: readonly Unasked[]): readonly string[] {
    this.reset();
    const onlyReads = batch.every((each) => each.onlyReads);
    // Who approves a command that changes the repository approves its hooks.
    if (!onlyReads) rmSync(join(this.work, '.git/hooks'), { recursive: true });
    const before = { work: fingerprint(this.work), outside: fingerprint(this.outside) };
    let output = '';
    for (const [environment, commands] of byEnvironment(batch)) {
      const script = commands
        .map(({ command }) => `timeout -k 1 5 bash -c ${quoted(command)} </dev/null`)
        .join('\n');
      const [program = 'bash', ...words] = [...this.jail, 'bash', '-c', script];
      const { stdout, stderr } = spawnSync(program, words, {
        cwd: this.work,
        env: environment,
        encoding: 'latin1',
        maxBuffer: 2 ** 28,
      });
      output += stdout + stderr;
    }
    const received = batch.map(({ command }) => command).join(' ⏎ ');
    const faults = [
      ...(existsSync(this.canary) ? [`ran or wrote something outside: ${received}`] : []),
      ...(output.includes(this.secretText) ? [`showed what is outside: ${received}`] : []),
      ...(fingerprint(this.outside) === before.outside ? [] : [`changed what is outside: ${received}`]),
      ...(onlyReads && fingerprint(this.work) !== before.work
        ? [`changed something though it only reads: ${received}`]
        : []),
      ...(!onlyReads && holds(this.work, this.secretText) ? [`copied what is outside: ${received}`] : []),
    ];
    // What is judged next is judged in the place as it was.
    this.reset();
    return faults;
  }

  private reset(): void {
    rmSync(this.canary, { force: true, recursive: true });
    rmSync(this.outside, { recursive: true, force: true });
    mkdirSync(this.outside);
    writeFileSync(this.secret, `${this.secretText}\n`);
    rmSync(this.work, { recursive: true, force: true });
    cpSync(this.pristine, this.work, { recursive: true, verbatimSymlinks: true });
  }

  /** A repository with links that lead outside, hostile names, and another repository that would run something. */
  private build(): void {
    const at = (name: string) => join(this.pristine, name);
    for (const name of ['src', 'd1', 'd2', 'docs', 'build', 'tests'])
      mkdirSync(at(name), { recursive: true });
    for (const name of ['link', '-link', 'd1/f', 'd1/link']) symlinkSync(this.secret, at(name));
    symlinkSync(this.outside, at('up'));
    for (const name of [
      'a.txt',
      'b.txt',
      'a',
      'b',
      'f',
      'd2/f',
      'data.csv',
      'log.txt',
      'README.md',
      'src/index.ts',
      'x',
    ])
      writeFileSync(at(name), 'a,b 1\nneedle b 2\n');
    writeFileSync(
      at('package.json'),
      '{"name":"x","version":"1.0.0","scripts":{"test":"true","build":"true"}}\n',
    );
    writeFileSync(at('list'), `${this.secret}\n`);
    writeFileSync(at('p.jq'), `import "${this.secret}" as $x; .\n`);
    writeFileSync(at('Makefile'), 'test build:\n\t@true\n');
    for (const name of ['run', 'ls', 'cat', '--checkpoint-action=exec=sh run', '-o.txt'])
      this.script(at(name));
    const git = (cwd: string, ...words: string[]) =>
      execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.com', ...words], {
        cwd,
        stdio: 'ignore',
      });
    git(at('docs'), 'init', '-q', '--bare');
    git(at('docs'), 'config', 'core.fsmonitor', at('run').replace('pristine', 'work'));
    git(this.pristine, 'init', '-q', '-b', 'main');
    git(this.pristine, 'add', 'a.txt', 'src');
    git(this.pristine, 'commit', '-qm', 'needle');
    mkdirSync(at('.git/hooks'), { recursive: true });
    this.script(at('.git/hooks/post-index-change'));
  }

  private script(path: string): void {
    writeFileSync(path, `#!/bin/sh\ntouch ${this.canary}\n`);
    chmodSync(path, 0o755);
  }
}

/** Where it is there, a sandbox keeps what goes wrong to the scratch directory; the result does not depend on it. */
function jailAround(root: string): readonly string[] {
  const jail = [
    'bwrap',
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--bind',
    root,
    root,
    '--unshare-net',
    '--die-with-parent',
  ];
  return spawnSync(jail[0] ?? '', [...jail.slice(1), 'true']).status === 0 ? jail : [];
}

function byEnvironment(batch: readonly Unasked[]): ReadonlyMap<Unasked['environment'], readonly Unasked[]> {
  const groups = new Map<Unasked['environment'], Unasked[]>();
  for (const each of batch) groups.set(each.environment, [...(groups.get(each.environment) ?? []), each]);
  return groups;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Names, kinds and contents of all that is there. */
function fingerprint(directory: string): string {
  const hash = createHash('sha256');
  for (const path of pathsIn(directory)) {
    const stat = lstatSync(path);
    hash.update(`${path}\0${stat.mode}\0`);
    if (stat.isFile()) hash.update(readFileSync(path));
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
  }
  return hash.digest('hex');
}

function holds(directory: string, text: string): boolean {
  return pathsIn(directory).some(
    (path) => lstatSync(path).isFile() && readFileSync(path, 'latin1').includes(text),
  );
}

/** Links are not followed. */
function pathsIn(directory: string): readonly string[] {
  return readdirSync(directory, { withFileTypes: true })
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      return entry.isDirectory() ? [path, ...pathsIn(path)] : [path];
    });
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch {
    // It has ended, or is another user's.
    return '';
  }
}
