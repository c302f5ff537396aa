/**
 * Has a client of others talk to `groundcrew --acp`: `npm run check:acp`. It is acpx, installed into a folder that is thrown
 * away: it asks for a newer Node than we do, so it is no dependency.
 */
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { callTools, say, scriptedModel } from '../packages/testing/src/index.js';

const version = '0.19.1';
const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'groundcrew-acpx-'));

try {
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['install', ...quiet, `acpx@${version}`], { cwd: folder, stdio: 'inherit' });
  await tryIt();
  process.stdout.write(`acpx ${version} works with groundcrew --acp.\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function tryIt(): Promise<void> {
  await using model = await scriptedModel();
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    GROUNDCREW_HOME: join(folder, 'home'),
    GROUNDCREW_BASE_URL: model.baseUrl,
    GROUNDCREW_MODEL: 'scripted',
  };
  const agent = join(folder, 'agent');
  writeFileSync(agent, `#!/bin/sh\nexec "${process.execPath}" "${program}" --acp\n`);
  chmodSync(agent, 0o755);
  const acpx = async (...words: readonly string[]): Promise<string> => {
    const cli = join(folder, 'node_modules/acpx/dist/cli.js');
    const args = [cli, '--agent', agent, '--cwd', folder, '--timeout', '60', ...words];
    const options = { env: environment, encoding: 'utf8', timeout: 120_000 } as const;
    return (await promisify(execFile)(process.execPath, args, options)).stdout;
  };

  // One prompt, every message checked by the schema of its SDK; strict: nothing but JSON on stdout.
  model.play(say('Two, ', 'I think.'));
  const messages = (await acpx('--format', 'json', '--json-strict', 'exec', 'What is 1+1?'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const pieces = messages.flatMap(({ params }) =>
    params?.update?.sessionUpdate === 'agent_message_chunk' ? [params.update.content.text] : [],
  );
  assert.equal(pieces.join(''), 'Two, I think.');
  assert.deepEqual(messages.find(({ result }) => result?.stopReason)?.result, { stopReason: 'end_turn' });

  // A command runs in a terminal of the client, a file is written through it; both with its permission.
  const command = { command: 'echo from-the-terminal', description: 'Says it' };
  const created = { path: join(folder, 'made.txt'), file_text: 'made by the client\n' };
  model.play(
    callTools({ name: 'bash', arguments: command }),
    callTools({ name: 'create', arguments: created }),
    ({ messages: said }) =>
      say(said.some(({ text }) => text.includes('from-the-terminal')) ? 'Both.' : 'None.'),
  );
  assert.match(await acpx('--approve-all', 'exec', 'Do both'), /Both\./);
  assert.equal(readFileSync(created.path, 'utf8'), created.file_text);

  // What the client denies does not run, and the model reads it.
  const other = { ...created, path: join(folder, 'denied.txt') };
  model.play(callTools({ name: 'create', arguments: other }), say('So be it.'));
  // By this code it says that permission was denied.
  await assert.rejects(acpx('--deny-all', 'exec', 'Try it'), { code: 5, stdout: /So be it\./ });
  assert.throws(() => readFileSync(other.path));

  // A session that goes on over several starts of the agent, with its mode and options.
  await acpx('sessions', 'new');
  model.play(say('I will.'));
  assert.match(await acpx('Remember 7'), /I will\./);
  await acpx('set-mode', 'plan');
  await acpx('set', 'permissions', 'assisted');
  await acpx('sessions', 'close');

  model.verify();
}
