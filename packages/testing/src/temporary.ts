import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientOptions } from '@groundcrew/sdk';

/** A directory of one test. */
export interface TemporaryDirectory extends Disposable {
  readonly path: string;
  /** Removes it and all that is in it. May be called again. */
  remove(): void;
}

/** A home and a working directory of one test. */
export interface Workplace extends Disposable {
  /** Where the runtime keeps sessions and settings. */
  readonly homeDirectory: string;
  /** Where sessions work. */
  readonly workingDirectory: string;
  /** To be spread into the options of a client: its runtime sees nothing of this process's home, keys and accounts. */
  readonly clientOptions: Pick<ClientOptions, 'workingDirectory' | 'baseDirectory' | 'env'>;
  /** To be spread into the options of `record` and `replay`: what of these places a cassette should not name. */
  readonly cassetteOptions: {
    readonly workingDirectory: string;
    readonly directories: Readonly<Record<string, string>>;
  };
  /** Removes both. May be called again. */
  remove(): void;
}

/** A new empty directory. */
export function temporaryDirectory(): TemporaryDirectory {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'groundcrew-test-')));
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  return { path, remove, [Symbol.dispose]: remove };
}

/** A new home and a new working directory. */
export function temporaryWorkplace(): Workplace {
  const directory = temporaryDirectory();
  const homeDirectory = join(directory.path, 'home');
  const workingDirectory = join(directory.path, 'work');
  for (const path of [homeDirectory, workingDirectory]) mkdirSync(path, { mode: 0o700 });
  return {
    homeDirectory,
    workingDirectory,
    clientOptions: { workingDirectory, baseDirectory: homeDirectory, env: bareEnvironment(homeDirectory) },
    cassetteOptions: { workingDirectory, directories: { home: homeDirectory } },
    remove: directory.remove,
    [Symbol.dispose]: directory.remove,
  };
}

/** What programs cannot do without, and nothing that leads to an account. */
function bareEnvironment(home: string): Readonly<Record<string, string | undefined>> {
  const { PATH, SystemRoot, TMPDIR, TEMP, GROUNDCREW_PATH } = process.env;
  return { PATH, HOME: home, USERPROFILE: home, SystemRoot, TMPDIR, TEMP, GROUNDCREW_PATH };
}
