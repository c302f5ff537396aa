import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callTools, type LiveRuntime, say, type WireSession } from '@groundcrew/testkit';
import { afterAll } from 'vitest';

/** Why no sandbox can be made here; undefined where one can. */
export const noSandbox = reasonAgainst();

/** Why files of this checkout cannot be protected in a sandbox; undefined where they can. */
export const noPlace = /^\/(?:var\/)?tmp\//.test(import.meta.dirname)
  ? 'the checkout lies in a temporary directory, and a sandbox has its own one there'
  : undefined;

/** A disk with something to protect. It is in no temporary directory: those are the sandbox's own. */
export class SandboxWorld {
  readonly base = mkdtempSync(fileURLToPath(new URL('../node_modules/.sandbox-', import.meta.url)));
  /** Where the session works. */
  readonly work = this.directory('work');
  /** The user's home, with keys in it. */
  readonly person = this.directory('person');
  readonly outside = this.directory('outside');

  constructor() {
    this.file('person/.ssh/id_ed25519', 'the private key');
    this.file('person/.aws/credentials', 'the cloud key');
    this.file('person/.npmrc', 'the registry key');
    this.file('person/.bash_history', 'export KEY=the typed key\n');
    this.file('person/.huggingface/token', 'the hub key');
    this.file('person/.config/stripe/config.toml', 'the payment key');
    this.file('person/notes.txt', 'no secret');
    this.file('outside/data.txt', 'outside data');
    afterAll(() => rmSync(this.base, { recursive: true, force: true }));
  }

  directory(name: string): string {
    const path = join(this.base, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  file(name: string, content: string): string {
    const path = join(this.base, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
    return path;
  }
}

/** A session whose model runs these commands, one after the other. */
export async function commandSession(
  runtime: LiveRuntime,
  commands: readonly string[],
  params: Readonly<Record<string, unknown>>,
): Promise<WireSession> {
  const calls = commands.map((command, index) =>
    callTools({ id: `c${index}`, name: 'bash', arguments: { command, description: 'Try' } }),
  );
  return (await runtime.session([...calls, say('done')], params)).session;
}

/** What the commands of a turn wrote, each with how it ended, or why it did not run. */
export function outputs(
  events: readonly { readonly type: string; readonly data: unknown }[],
): readonly string[] {
  return events
    .filter(({ type }) => type === 'tool.execution_complete')
    .map(({ data }) => {
      const { result, error } = data as {
        readonly result?: { readonly content: string };
        readonly error?: { readonly message: string };
      };
      return result?.content ?? `failed: ${error?.message}`;
    });
}

function reasonAgainst(): string | undefined {
  if (process.platform !== 'linux') return `the tests of the sandbox need Linux, not ${process.platform}`;
  const flags = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--unshare-user',
    '--unshare-pid',
  ];
  const { error, status, stderr } = spawnSync('/usr/bin/bwrap', [...flags, '--', '/bin/sh', '-c', ':']);
  if (error) return `bubblewrap is not installed (${error.message})`;
  return status === 0 ? undefined : `bubblewrap does not work here: ${stderr.toString().trim()}`;
}
