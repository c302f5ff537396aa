import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { editTool } from './edit.js';

const world = ToolWorld.forEachTest();
const edit = editTool();

test('one piece is replaced, and shown as a diff before and after', async () => {
  const path = world.path('f.txt');
  writeFileSync(path, 'one\nHello World\nthree\n');
  const diff = `\ndiff --git a${path} b${path}\nindex 0000000..0000000 100644\n--- a${path}\n+++ b${path}\n@@ -1,3 +1,3 @@\n one\n-Hello World\n+Hi Universe\n three\n`;
  expect(await world.call(edit, { path, old_str: 'Hello World', new_str: 'Hi Universe' })).toEqual({
    questions: [
      {
        request: {
          kind: 'write',
          intention: 'Edit file',
          fileName: path,
          diff,
          newFileContents: 'one\nHi Universe\nthree\n',
          canOfferSessionApproval: true,
        },
      },
    ],
    result: { type: 'success', text: `File ${path} updated with changes.`, details: diff },
  });
  expect(readFileSync(path, 'utf8')).toBe('one\nHi Universe\nthree\n');
  expect(readdirSync(world.path())).toEqual(['f.txt']);
});

test('no match, several matches and a missing file fail before anybody is asked', async () => {
  const path = world.path('f.txt');
  writeFileSync(path, 'a\na b\n');
  expect(await world.call(edit, { path, old_str: 'zzz', new_str: '' })).toEqual({
    questions: [],
    failure: {
      text: `No match found: old_str not found in ${path}; no changes made; you might want to try again with correct old_str`,
      message: 'No match found',
    },
  });
  expect(await world.call(edit, { path, old_str: 'a', new_str: 'c' })).toEqual({
    questions: [],
    failure: {
      text: `Ambiguous match for old_str in ${path}: pattern starting with "a" matched at lines 1, 2. No changes made; try again with a more specific old_str.`,
      message: 'Multiple matches found',
    },
  });
  const gone = world.path('gone.txt');
  expect(await world.call(edit, { path: gone, old_str: 'a', new_str: 'b' })).toEqual({
    questions: [],
    failure: {
      text: `Failed to execute with arguments: {"path":"${gone}","old_str":"a","new_str":"b","command":"edit"} due to error: Error: ENOENT: no such file or directory, open '${gone}'`,
      message: `ENOENT: no such file or directory, open '${gone}'`,
    },
  });
  expect(readFileSync(path, 'utf8')).toBe('a\na b\n');
});

test('line endings stay as the file has them', async () => {
  const path = world.path('crlf.txt');
  writeFileSync(path, 'one\r\ntwo\r\nthree');
  await world.call(edit, { path, old_str: 'one\ntwo', new_str: '1\n2\n2.5' });
  expect(readFileSync(path, 'utf8')).toBe('1\r\n2\r\n2.5\r\nthree');
  await world.call(edit, { path, old_str: 'three', new_str: '3\n4' });
  expect(readFileSync(path, 'utf8')).toBe('1\r\n2\r\n2.5\r\n3\r\n4');
});

test('dollar signs and bytes that are no UTF-8 are left alone', async () => {
  const path = world.path('f.bin');
  const bytes = Buffer.from([0xff, 0x00, 0x61, 0xc3, 0x28]);
  writeFileSync(path, bytes);
  await world.call(edit, { path, old_str: 'a', new_str: "$&$1$'" });
  expect(readFileSync(path)).toEqual(
    Buffer.concat([bytes.subarray(0, 2), Buffer.from("$&$1$'"), bytes.subarray(3)]),
  );
});

test('the mode is kept', async () => {
  const path = world.path('run.sh');
  writeFileSync(path, 'echo a\n');
  chmodSync(path, 0o751);
  await world.call(edit, { path, old_str: 'a', new_str: 'b' });
  expect(statSync(path).mode & 0o7777).toBe(0o751);
});

test('a link stays a link, and its target is what changes', async () => {
  writeFileSync(world.path('real.txt'), 'old');
  symlinkSync('real.txt', world.path('link.txt'));
  await world.call(edit, { path: 'link.txt', old_str: 'old', new_str: 'new' });
  expect(readFileSync(world.path('real.txt'), 'utf8')).toBe('new');
});

test('a hard link to a file elsewhere is cut, so that the file elsewhere stays as it is', async () => {
  writeFileSync(world.outside('s.txt'), 'old');
  linkSync(world.outside('s.txt'), world.path('h.txt'));
  await world.call(edit, { path: 'h.txt', old_str: 'old', new_str: 'new' });
  expect([readFileSync(world.path('h.txt'), 'utf8'), readFileSync(world.outside('s.txt'), 'utf8')]).toEqual([
    'new',
    'old',
  ]);
});

test('edits of one file made side by side are all there in the end', async () => {
  const path = world.path('f.txt');
  const names = Array.from({ length: 20 }, (_, index) => `name${String(index).padStart(2, '0')}`);
  writeFileSync(path, names.join('\n'));
  await Promise.all(names.map((name) => world.call(edit, { path, old_str: name, new_str: `${name}!` })));
  expect(readFileSync(path, 'utf8')).toBe(names.map((name) => `${name}!`).join('\n'));
});

test('a file outside is not even read before permission is given', async () => {
  const path = world.outside('s.txt');
  writeFileSync(path, 'secret');
  const asked = await world.call(edit, { path, old_str: 'guess', new_str: '' });
  expect(asked.questions.map(({ request, prompt }) => [request.kind, prompt])).toEqual([
    ['read', { kind: 'path', accessKind: 'write', paths: [path] }],
  ]);
  expect(asked.failure?.message).toBe('No match found');
  const refused = await world.call(
    edit,
    { path, old_str: 'guess', new_str: '' },
    {
      answer: () => {
        throw new Error('refused');
      },
    },
  );
  expect(refused.failure?.message).toBe('refused');
});

test('an empty old text fills an empty file and nothing else', async () => {
  const path = world.path('f.txt');
  writeFileSync(path, '');
  await world.call(edit, { path, new_str: 'content' });
  expect(readFileSync(path, 'utf8')).toBe('content');
  expect((await world.call(edit, { path, old_str: '', new_str: 'x' })).failure?.message).toBe(
    'No match found',
  );
  expect((await world.call(edit, { path, old_str: 'c', new_str: 'c' })).failure?.message).toBe(
    'Nothing to change',
  );
});
