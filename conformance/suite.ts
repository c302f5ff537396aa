import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A release of the conformance suite. */
export type Suite = '@modelcontextprotocol/conformance' | 'conformance-next';

const here = dirname(fileURLToPath(import.meta.url));
const shim = pathToFileURL(join(here, 'fs-with-glob.mjs')).href;

/** Runs the suite's program; resolves with its exit code and what it printed. */
export function runSuite(
  suite: Suite,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const root = dirname(createRequire(import.meta.url).resolve(`${suite}/package.json`));
  const child = spawn(process.execPath, ['--import', shim, join(root, 'dist', 'index.js'), ...args], {
    cwd: dirname(here),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const take = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output: plain(output) })));
}

/** The scenarios that a release has, with the revisions they are of. */
export async function scenariosOf(
  suite: Suite,
  part: 'Client' | 'Server',
): Promise<readonly { readonly name: string; readonly revisions: readonly string[] }[]> {
  const { output } = await runSuite(suite, ['list']);
  const [, section = ''] = output.split(`${part} scenarios`);
  const [lines = ''] = section.split('\n\n');
  return [...lines.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)].map(([, name = '', revisions = '']) => ({
    name,
    revisions: revisions.split(','),
  }));
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
  return text.replace(/\u001b\[\d+m/g, '');
}
