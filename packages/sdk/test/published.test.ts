import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { byExtent } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const packageFolder = join(import.meta.dirname, '..');
const modules = join(packageFolder, '..', '..', 'node_modules');
const compiler = join(modules, 'typescript-native', 'bin', 'tsc');
const app = mkdtempSync(join(tmpdir(), 'groundcrew-app-'));

/** `check:packed` tries the packages as users install them, so the short form leaves this to it. */
const isFull = byExtent({ short: false, full: true });
const whole = test.skipIf(!isFull);

beforeAll(() => {
  if (!isFull) return;
  run(join(packageFolder, 'scripts', 'build.mjs'));
  const installed = join(app, 'node_modules', '@groundcrew', 'sdk');
  mkdirSync(installed, { recursive: true });
  for (const name of ['dist', 'package.json'])
    cpSync(join(packageFolder, name), join(installed, name), { recursive: true });
  mkdirSync(join(app, 'node_modules', '@types'));
  for (const name of ['groundcrew', 'zod', '@types/node'])
    symlinkSync(join(modules, name), join(app, 'node_modules', name));
  write('package.json', '{ "type": "module" }');
}, 60_000);

afterAll(() => rmSync(app, { recursive: true, force: true }));

/** A tool with a schema of the app's own zod, called by the offline model. */
const use = `
const shout = defineTool('shout', {
  parameters: z.object({ word: z.string() }),
  handler: ({ word }) => word.toUpperCase(),
  skipPermission: true,
});
(async () => {
  const client = new Client({ baseDirectory: ${JSON.stringify(join(app, 'home'))} });
  const session = await client.createSession({ tools: [shout] });
  const answer = await session.sendAndWait("Use the tool shout with word 'hello', then reply with the result");
  process.stdout.write(answer.data.content + ' ' + (await client.stop()).length);
})();`;

whole('an app in ES modules finds the SDK, and the SDK the installed runtime', () => {
  write('main.mjs', `import { Client, defineTool } from '@groundcrew/sdk'; import * as z from 'zod';${use}`);
  expect(run('main.mjs')).toBe('HELLO 0');
});

whole('an app in CommonJS finds the SDK, and the SDK the installed runtime', () => {
  write(
    'main.cjs',
    `const { Client, defineTool } = require('@groundcrew/sdk'); const z = require('zod');${use}`,
  );
  expect(run('main.cjs')).toBe('HELLO 0');
});

whole(
  'apps of both kinds are checked against the types, the SDK included',
  () => {
    const source = `
    import { Client, defineTool } from '@groundcrew/sdk';
    import * as z from 'zod';
    const add = defineTool('add', { parameters: z.object({ a: z.number() }), handler: ({ a }) => a + 1 });
    export async function main(): Promise<string | undefined> {
      const session = await new Client().createSession({ tools: [add] });
      // @ts-expect-error there is no such answer to a question for permission
      await new Client().createSession({ onPermissionRequest: () => ({ kind: 'approve' }) });
      session.on('assistant.message_delta', ({ data }) => data.deltaContent.length);
      // @ts-expect-error there is no such event
      session.on('assistant.nonsense', () => undefined);
      await session.call('session.name.set', { name: 'x' });
      return (await session.sendAndWait('hi'))?.data.content;
    }`;
    write('src/module.mts', source);
    write('src/common.cts', source);
    const compilerOptions = {
      module: 'node16',
      target: 'es2022',
      lib: ['es2023', 'esnext.disposable'],
      types: ['node'],
      strict: true,
      noEmit: true,
      // Whoever checks all types they use needs no packages that only the SDK's own parts know.
      skipLibCheck: false,
    };
    write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }));
    expect(run(compiler, '-p', 'tsconfig.json')).toBe('');
  },
  60_000,
);

function write(name: string, text: string): void {
  const path = join(app, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** What it says; a failure throws with all of it. */
function run(script: string, ...args: readonly string[]): string {
  return execFileSync(process.execPath, [script, ...args], { cwd: app, encoding: 'utf8', stdio: 'pipe' });
}
