/** Packs what is published, installs it into an empty project and uses it there: `npm run check:packed`. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PackedProject } from './packed-project.js';

using project = new PackedProject();
const home = join(project.folder, 'home');
process.env.GROUNDCREW_HOME = home;

const program = join(project.folder, 'node_modules', '.bin', 'groundcrew');
assert.equal(project.run(program, '-p', 'What is 1+1?'), '1+1 = 2\n');
assert.match(project.run(program, 'sessions', 'ls'), /What is 1\+1\?/);
assert.match(project.run(program, 'doctor'), /./);
// The parser of commands is a file of its own. What would be asked about has an exit code of its own.
assert.throws(() => project.run(program, 'permissions', 'check', 'git status'), {
  status: 3,
  stdout: /^command: git status \(only reads\)$/m,
});

const app = `
const shout = defineTool('shout', {
  parameters: z.object({ word: z.string() }),
  handler: ({ word }) => word.toUpperCase(),
  skipPermission: true,
});
(async () => {
  for (const connection of [RuntimeConnection.forStdio(), RuntimeConnection.forTcp(), RuntimeConnection.forInProcess()]) {
    const client = new Client({ connection });
    const session = await client.createSession({ tools: [shout] });
    const answer = await session.sendAndWait("Use the tool shout with word 'hello', then reply with the result");
    process.stdout.write(answer.data.content + (await client.stop()).length + ' ');
  }
})();`;
const names = 'Client, defineTool, RuntimeConnection';
project.write('app.mjs', `import { ${names} } from '@groundcrew/sdk'; import * as z from 'zod';${app}`);
project.write('app.cjs', `const { ${names} } = require('@groundcrew/sdk'); const z = require('zod');${app}`);
for (const file of ['app.mjs', 'app.cjs'])
  assert.equal(project.run(process.execPath, file), 'HELLO0 HELLO0 HELLO0 ', file);

project.write(
  'offline.mjs',
  `import { Client } from '@groundcrew/sdk';
   import { say, scriptedModel, temporaryWorkplace } from '@groundcrew/testing';
   const workplace = temporaryWorkplace();
   const client = new Client(workplace.clientOptions);
   const model = await scriptedModel(say('Hello.'));
   const session = await client.createSession(model.settings);
   process.stdout.write((await session.sendAndWait('Say hello')).data.content);
   model.verify();
   await client.stop();
   await model[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]();
   workplace[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();`,
);
assert.equal(project.run(process.execPath, 'offline.mjs'), 'Hello.');

for (const name of ['groundcrew', '@groundcrew/sdk', '@groundcrew/testing']) {
  const folder = join(project.folder, 'node_modules', name);
  assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), /^# /, name);
  const { license, repository, publishConfig } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  assert.equal(license, 'MIT', name);
  // What npm needs to publish a package with its provenance.
  assert.match(repository.url, /^git\+https:/, name);
  assert.deepEqual(publishConfig, { access: 'public', provenance: true }, name);
}
// A starter app finds what is installed above it.
project.run(program, 'init', 'app');
project.run('npm', 'install', '--no-save', 'tsx@4', 'typescript@5.9', '@types/node@20');
project.run('npm', '--prefix', 'app', 'run', '--silent', 'check');
assert.match(project.run('npm', '--prefix', 'app', 'test', '--silent'), /fail 0/);
assert.equal(project.run('npm', '--prefix', 'app', 'start', '--silent'), 'order A-17 is on its way\n');

process.stdout.write('The packed packages work in an empty project.\n');
