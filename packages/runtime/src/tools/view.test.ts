import { once } from 'node:events';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { viewTool } from './view.js';

const world = ToolWorld.forEachTest();
const view = viewTool();
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('a file is shown by numbered lines, and its final newline begins an empty one', async () => {
  writeFileSync(world.path('f.txt'), 'Hi Universe\nGoodbye World\n');
  const path = world.path('f.txt');
  expect(await world.call(view, { path: 'f.txt' })).toEqual({
    questions: [{ request: { kind: 'read', intention: `Read file: ${path}`, path } }],
    result: {
      type: 'success',
      text: '1. Hi Universe\n2. Goodbye World\n3. ',
      details: `\ndiff --git a${path} b${path}\nindex 0000000..0000000 100644\n--- a${path}\n+++ b${path}\n@@ -1,3 +1,3 @@\n Hi Universe\n Goodbye World\n \n`,
    },
  });
});

test('a range keeps the numbers of the file', async () => {
  writeFileSync(world.path('f.txt'), 'line1\nline2\r\nline3\nline4\nline5');
  expect(await world.published(view, { path: 'f.txt', view_range: [2, 4] })).toBe(
    '2. line2\n3. line3\n4. line4',
  );
  expect(await world.published(view, { path: 'f.txt', view_range: [4, -1] })).toBe('4. line4\n5. line5');
  expect(await world.published(view, { path: 'f.txt', view_range: [5, 99] })).toBe('5. line5');
});

test('a range beyond the end, or upside down, is a failure', async () => {
  writeFileSync(world.path('f.txt'), 'a\nb\nc\n');
  expect((await world.call(view, { path: 'f.txt', view_range: [5, 6] })).failure).toEqual({
    text: 'Invalid view_range: start line (5) is beyond the end of the file. The file has 4 lines.',
    message: 'view_range out of bounds',
  });
  expect((await world.call(view, { path: 'f.txt', view_range: [3, 2] })).failure?.message).toBe(
    'Invalid view_range',
  );
});

test('an empty file is an empty text', async () => {
  writeFileSync(world.path('f.txt'), '');
  expect(await world.published(view, { path: 'f.txt' })).toBe('');
});

test('a directory is shown by its names, hidden ones too', async () => {
  mkdirSync(world.path('d', 'sub'), { recursive: true });
  writeFileSync(world.path('d', '.hidden'), '');
  writeFileSync(world.path('d', 'a.txt'), '');
  const { questions, result } = await world.call(view, { path: 'd' });
  expect(questions).toEqual([
    {
      request: { kind: 'read', intention: `List directory: ${world.path('d')}`, path: world.path('d') },
    },
  ]);
  expect(result).toEqual({ type: 'success', text: '.hidden\na.txt\nsub' });
});

test('what does not exist fails before anybody is asked', async () => {
  expect(await world.call(view, { path: 'nope.txt' })).toEqual({
    questions: [],
    failure: {
      text: `Path ${world.path('nope.txt')} does not exist. Please provide a valid path.`,
      message: 'Path does not exist',
    },
  });
});

test('outside the allowed directories the place is asked for first, by its real name too', async () => {
  writeFileSync(world.outside('s.txt'), 'secret');
  symlinkSync(world.outside('s.txt'), world.path('link'));
  const request = { kind: 'read', intention: `Read file: ${world.path('link')}`, path: world.path('link') };
  expect(await world.call(view, { path: 'link' })).toMatchObject({
    questions: [
      {
        request,
        prompt: { kind: 'path', accessKind: 'read', paths: [world.path('link'), world.outside('s.txt')] },
      },
      { request },
    ],
    result: { text: '1. secret' },
  });
});

test('a link put in place while the question was open is not followed', async () => {
  writeFileSync(world.path('f.txt'), 'mine');
  writeFileSync(world.outside('s.txt'), 'secret');
  const { failure } = await world.call(
    view,
    { path: 'f.txt' },
    {
      answer: () => {
        renameSync(world.path('f.txt'), world.path('g.txt'));
        symlinkSync(world.outside('s.txt'), world.path('f.txt'));
      },
    },
  );
  expect(failure?.text).toBe(
    `PlaceChanged: ${world.path('f.txt')} was changed while it was being opened; nothing was done`,
  );
});

test('a long file is shown by range, or whole to a model that insists', async () => {
  const lines = Array.from({ length: 4000 }, (_, index) => `line ${index + 1} ...`);
  writeFileSync(world.path('f.txt'), lines.join('\n'));
  const tooLarge =
    'File too large to read at once (53.6 KB). Consider using the grep tool to search within the file, or view with view_range to read specific sections.';
  expect(await world.published(view, { path: 'f.txt' })).toBe(tooLarge);
  expect(await world.published(view, { path: 'f.txt', view_range: [1, -1] })).toBe(tooLarge);
  expect(await world.published(view, { path: 'f.txt', view_range: [3999, -1] })).toBe(
    '3999. line 3999 ...\n4000. line 4000 ...',
  );
  const all = await world.published(view, { path: 'f.txt', forceReadLargeFiles: true });
  expect(all.split('\n')).toHaveLength(4000);
});

test('lines are whole wherever the pieces a file is read in end', async () => {
  const long = 'ä'.repeat(40_000);
  writeFileSync(world.path('f.txt'), `${long}\nshort\n${long}\nend`);
  expect(await world.published(view, { path: 'f.txt', view_range: [2, 2] })).toBe('2. short');
  const all = await world.published(view, { path: 'f.txt', forceReadLargeFiles: true });
  expect(all).toBe(`1. ${long}\n2. short\n3. ${long}\n4. end`);
});

test('bytes that are no UTF-8 do not keep a text from being shown; NUL does', async () => {
  writeFileSync(world.path('latin.txt'), Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
  writeFileSync(world.path('bin'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]));
  expect(await world.published(view, { path: 'latin.txt' })).toBe('1. caf\ufffd\n2. ');
  expect(await world.published(view, { path: 'bin' })).toBe(
    `File ${world.path('bin')} is binary (0.0 KB) and cannot be shown as text.`,
  );
});

test('an image goes to the model as an image, whatever its name', async () => {
  writeFileSync(world.path('x.dat'), Buffer.from(pixel, 'base64'));
  const description = `Image file at path ${world.path('x.dat')}`;
  expect((await world.call(view, { path: 'x.dat' })).result).toEqual({
    type: 'success',
    text: 'Viewed image file successfully.',
    parts: [
      { type: 'text', text: description },
      { type: 'image', mimeType: 'image/png', base64: pixel },
    ],
    binaries: [{ type: 'image', data: pixel, mimeType: 'image/png', description }],
  });
});

test.runIf(process.platform !== 'win32')('a socket is refused', async () => {
  const server = createServer().listen(world.path('socket'));
  await once(server, 'listening');
  expect(await world.published(view, { path: 'socket' })).toBe(
    `Path ${world.path('socket')} is neither a file nor a directory.`,
  );
  server.close();
});

test('a call says what it is about', () => {
  expect(view.intention?.({ path: '/w/f.txt' })).toBe('view the file at /w/f.txt.');
  expect(view.intention?.({})).toBeUndefined();
});
