import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { createTool } from './create.js';

const world = ToolWorld.forEachTest();
const create = createTool();

test('a new file is shown as a diff, written, and reported', async () => {
  const path = world.path('n1.txt');
  const diff = `\ndiff --git a${path} b${path}\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b${path}\n@@ -1,0 +1,1 @@\n+x\n`;
  expect(await world.call(create, { path, file_text: 'x' })).toEqual({
    questions: [
      {
        request: {
          kind: 'write',
          intention: 'Create file',
          fileName: path,
          diff,
          newFileContents: 'x',
          canOfferSessionApproval: true,
        },
      },
    ],
    result: { type: 'success', text: `Created file ${path} with 1 characters`, details: diff },
  });
  expect(readFileSync(path, 'utf8')).toBe('x');
  expect(world.notices).toEqual([
    { type: 'session.info', ephemeral: true, data: { infoType: 'file_created', message: path } },
  ]);
  expect(readdirSync(world.path())).toEqual(['n1.txt']);
});

test('characters are counted, not bytes, and the umask decides who may read', async () => {
  expect(await world.published(create, { path: 'u.txt', file_text: 'héllo\n' })).toBe(
    `Created file ${world.path('u.txt')} with 6 characters`,
  );
  expect(statSync(world.path('u.txt')).mode & 0o777).toBe(0o666 & ~process.umask());
});

test('a file that exists is never overwritten, and no question is asked', async () => {
  writeFileSync(world.path('f.txt'), 'old');
  mkdirSync(world.path('d'));
  symlinkSync(world.outside('gone'), world.path('dangling'));
  expect(await world.call(create, { path: 'f.txt', file_text: 'new' })).toEqual({
    questions: [],
    failure: {
      text: `Path ${world.path('f.txt')} already exists as a file. Use \`view\` to check contents then edit it.`,
      message: 'Path already exists',
    },
  });
  expect(await world.published(create, { path: 'd', file_text: '' })).toBe(
    `Path ${world.path('d')} already exists as a directory.`,
  );
  expect(await world.published(create, { path: 'dangling', file_text: '' })).toBe(
    `Path ${world.path('dangling')} already exists as something that is no file.`,
  );
  expect(readdirSync(world.outside())).toEqual([]);
});

test('a file that came while the question was open is not overwritten either', async () => {
  const path = world.path('f.txt');
  const { failure } = await world.call(
    create,
    { path, file_text: 'new' },
    { answer: () => writeFileSync(path, 'quicker') },
  );
  expect(failure?.message).toBe('Path already exists');
  expect(readFileSync(path, 'utf8')).toBe('quicker');
  expect(readdirSync(world.path())).toEqual(['f.txt']);
});

test('a missing directory is named', async () => {
  expect(await world.call(create, { path: 'no/such/f.txt', file_text: '' })).toEqual({
    questions: [],
    failure: {
      text: `Parent directory ${world.path('no/such')} does not exist. You need to create it before creating the file.`,
      message: 'Parent directory does not exist',
    },
  });
});

test('outside the allowed directories the place is asked for first', async () => {
  const { questions } = await world.call(create, { path: world.outside('f.txt'), file_text: 'x' });
  expect(questions.map(({ request, prompt }) => [request.kind, prompt])).toEqual([
    ['read', { kind: 'path', accessKind: 'write', paths: [world.outside('f.txt')] }],
    ['write', undefined],
  ]);
});

test.runIf(process.getuid?.() !== 0)('a directory that may not be written to stays as it is', async () => {
  mkdirSync(world.path('d'));
  chmodSync(world.path('d'), 0o555);
  expect((await world.call(create, { path: 'd/f', file_text: 'x' })).failure?.message).toContain('EACCES');
});
