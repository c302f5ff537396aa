import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Environment } from '@groundcrew/models';
import { stdioChannel } from '@groundcrew/rpc';
import type { ExtensionHost, FoundExtension, RunningExtension } from '@groundcrew/server';
import { writeWholeFile } from '@groundcrew/store';
import { withFileLock } from '@groundcrew/store-sqlite';
import { trueOrFalse } from '../flags/arguments.js';
import { settingsText } from './settings-text.js';

/**
 * Whether the operator lets extensions run: they are programs of projects and of the home, and ask for no permission. Clients ask for
 * them by `requestExtensions`, which is not enough. Throws UsageError.
 */
export function allowsExtensions({
  GROUNDCREW_EXTENSIONS: own,
  COPILOT_CLI_ENABLED_FEATURE_FLAGS: flags,
}: Environment): boolean {
  if (own) return trueOrFalse(own, 'GROUNDCREW_EXTENSIONS');
  return (flags ?? '').split(',').some((flag) => flag.trim() === 'EXTENSIONS');
}

/** Finds and starts extensions; they get the environment of commands, without keys of the runtime. */
export function extensionHost(homeDirectory: string, environment: Environment): ExtensionHost {
  return {
    find: (workingDirectory) => [
      ...extensionsIn(join(projectOf(workingDirectory), '.github', 'extensions'), 'project'),
      ...extensionsIn(join(homeDirectory, 'extensions'), 'user'),
    ],
    findOfUser: () => extensionsIn(join(homeDirectory, 'extensions'), 'user'),
    disabled: () => readDisabled(homeDirectory),
    switch: (ids, enabled) => switchExtensions(homeDirectory, ids, enabled),
    launch: ({ entry }, { sessionId, workingDirectory, sdkPath }) => {
      const loader = sdkPath === undefined ? [] : ['--import', loaderFor(sdkPath)];
      const child = spawn(process.execPath, [...loader, entry], {
        cwd: workingDirectory,
        env: { ...environment, SESSION_ID: sessionId } as NodeJS.ProcessEnv,
        stdio: ['pipe', 'pipe', 'ignore'],
        windowsHide: true,
      });
      return running(child);
    },
  };
}

/** Which of the user's extensions are off stands in a file of the home. */
function disabledPath(homeDirectory: string): string {
  return join(homeDirectory, 'extensions.json');
}

/** Throws if the file cannot be read: an extension that it disables must not run for that reason. */
function readDisabled(homeDirectory: string): readonly string[] {
  const path = disabledPath(homeDirectory);
  const source = settingsText(path);
  if (source === undefined) return [];
  const { value } = jsonOf(source);
  const disabled = (value as { readonly disabled?: unknown } | null)?.disabled;
  if (!Array.isArray(disabled)) throw new Error(`${path} is no file of extensions: 'disabled' is no list`);
  return disabled.filter((id) => typeof id === 'string');
}

function jsonOf(source: string): { readonly value?: unknown } {
  try {
    return { value: JSON.parse(source) };
  } catch {
    // The caller says which file it is.
    return {};
  }
}

/** One change at a time, among all processes; there is always a whole file in its place. */
function switchExtensions(homeDirectory: string, ids: readonly string[], enabled: boolean): Promise<void> {
  const guard = join(homeDirectory, 'run', 'extensions.guard');
  mkdirSync(dirname(guard), { recursive: true, mode: 0o700 });
  return withFileLock(guard, () => {
    const others = readDisabled(homeDirectory).filter((id) => !ids.includes(id));
    const disabled = [...others, ...(enabled ? [] : [...new Set(ids)])].sort();
    writeWholeFile(disabledPath(homeDirectory), `${JSON.stringify({ disabled }, null, 2)}\n`);
  });
}

/** After this, one that does not end by itself is ended. */
const patience = 2000;

function running(child: ReturnType<typeof spawn>): RunningExtension {
  const { stdin, stdout, pid } = child;
  if (!stdin || !stdout) throw new Error('A child without streams cannot be served');
  // Writes to a child that has ended fail; its channel closes on its own.
  stdin.on('error', () => undefined);
  const ended = new Promise<void>((done) => {
    child.once('close', () => done());
    child.once('error', () => done());
  });
  const channel = stdioChannel({ input: stdout, output: stdin });
  return {
    channel,
    pid,
    ended,
    kill: () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), patience);
      void ended.then(() => clearTimeout(timer));
    },
  };
}

function extensionsIn(directory: string, source: FoundExtension['source']): readonly FoundExtension[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory).sort();
  } catch {
    // There are none, or none that could be read.
    return [];
  }
  return names.flatMap((name) => {
    const entry = ['extension.mjs', 'extension.js', 'extension.cjs']
      .map((file) => join(directory, name, file))
      .find((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
    return entry === undefined ? [] : [{ id: `${source}:${basename(name)}`, name, source, entry }];
  });
}

/** The nearest directory above that has a `.git`, else the directory itself. */
function projectOf(workingDirectory: string): string {
  for (let directory = resolve(workingDirectory); ; directory = resolve(directory, '..')) {
    if (statSync(join(directory, '.git'), { throwIfNoEntry: false })) return directory;
    if (directory === resolve(directory, '..')) return workingDirectory;
  }
}

/** Has the child find the SDK where its host keeps it, under the name that extensions import. */
function loaderFor(sdkPath: string): string {
  const base = pathToFileURL(join(resolve(sdkPath), 'index.js')).href;
  const hooks = `
    export function resolve(name, context, next) {
      const part = /^@github\\/copilot-sdk(?:\\/(.+))?$/.exec(name);
      if (!part) return next(name, context);
      const file = './' + (part[1] ?? 'index') + '.js';
      return next(new URL(file, ${JSON.stringify(base)}).href, context);
    }`;
  const source = `
    import { register } from 'node:module';
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)});`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
