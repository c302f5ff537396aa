import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, say } from '@groundcrew/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const at = (name: string) => join(runtime.workingDirectory, name);
const png = 'iVBORw0KGgo=';

beforeAll(() => {
  mkdirSync(at('folder'));
  writeFileSync(at('a.txt'), 'alpha\nbeta\ngamma\n');
  writeFileSync(at('no-newline.txt'), 'alpha\nbeta');
  writeFileSync(at('empty.txt'), '');
  writeFileSync(at('folder/one.txt'), '1');
  writeFileSync(at('dot.png'), Buffer.from(png, 'base64'));
});

/** What the model got and what the event repeats, for one prompt with these attachments. */
async function attach(attachments: readonly object[], params: object = {}) {
  const { session, model } = await runtime.session([say('ok')], params as Record<string, unknown>);
  const events = await session.turn('Look', { attachments });
  const message = events.find(({ type }) => type === 'user.message')?.data as
    | { readonly attachments?: unknown; readonly transformedContent?: string }
    | undefined;
  const content = model.requests[0]?.body.messages.at(-1)?.content;
  const text = JSON.stringify(content).replace(
    /<current_datetime>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00<\/current_datetime>/,
    'NOW',
  );
  return {
    content: JSON.parse(text) as unknown,
    echoed: message?.attachments,
    transformed: message?.transformedContent,
  };
}

const tagged = (line: string) => `NOW\n\nLook\n\n\n\n<tagged_files>\n* ${line}\n</tagged_files>`;

describe('files', () => {
  test('are named with their length, and the name comes from the path', async () => {
    const path = at('a.txt');
    const { content, echoed, transformed } = await attach([{ type: 'file', path }]);
    expect(content).toBe(tagged(`${path} (3 lines)`));
    expect(transformed).toContain(`* ${path} (3 lines)`);
    expect(echoed).toEqual([
      { type: 'file', path, displayName: 'a.txt', taggedFilesEntry: `* ${path} (3 lines)` },
    ]);
  });

  test.each([
    ['no-newline.txt', undefined, '2 lines'],
    ['empty.txt', undefined, '0 lines'],
    ['a.txt', { start: 1, end: 2 }, 'lines 1-2 of 3 lines'],
    ['a.txt', { start: 2, end: 2 }, 'line 2 of 3 lines'],
  ])('%s with range %j: %s', async (name, lineRange, note) => {
    const { content } = await attach([
      { type: 'file', path: at(name), displayName: null, ...(lineRange && { lineRange }) },
    ]);
    expect(content).toBe(tagged(`${at(name)} (${note})`));
  });

  test('a path that is relative is found from the working directory', async () => {
    const { content, echoed } = await attach([{ type: 'file', path: 'a.txt', displayName: 'Letters' }]);
    expect(content).toBe(tagged(`${at('a.txt')} (3 lines)`));
    expect(echoed).toMatchObject([{ displayName: 'Letters', path: at('a.txt') }]);
  });

  test('one that is not there is named with the reason, and the turn goes on', async () => {
    const path = at('missing.txt');
    const { content } = await attach([{ type: 'file', path }]);
    expect(content).toBe(tagged(`${path} (error: Error: ENOENT: no such file or directory, stat '${path}')`));
  });

  test('an image is shown to a model that can see', async () => {
    const { content } = await attach([{ type: 'file', path: at('dot.png') }]);
    expect(content).toMatchObject([
      { type: 'text', text: expect.stringContaining('The user mentioned images') },
      { type: 'text', text: `Image file at path ${at('dot.png')}` },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ]);
  });

  test('directories are named with the number of their entries', async () => {
    const { content, echoed } = await attach([{ type: 'directory', path: at('folder') }]);
    expect(content).toBe(tagged(`${at('folder')} (1 items)`));
    expect(echoed).toMatchObject([{ type: 'directory', displayName: 'folder' }]);
  });

  test('several stand in one list, in order', async () => {
    const { content } = await attach([
      { type: 'file', path: at('a.txt') },
      { type: 'directory', path: at('folder') },
    ]);
    expect(content).toBe(tagged(`${at('a.txt')} (3 lines)\n* ${at('folder')} (1 items)`));
  });
});

describe('selections', () => {
  const selectedText = (place: string, text: string) =>
    `<ide_selection>\nThe user has the following text selected in their IDE. This may or may not be related to their request.\nFile: a.txt (${place})\n\`\`\`\n${text}\n\`\`\`\n</ide_selection>\n\nNOW\n\nLook`;
  const range = (startLine: number, endLine: number, end = 99) => ({
    start: { line: startLine, character: 0 },
    end: { line: endLine, character: end },
  });

  test('with their text stand before the time', async () => {
    const selection = range(0, 0, 5);
    const given = {
      type: 'selection',
      filePath: at('a.txt'),
      displayName: 'a.txt',
      text: 'alpha',
      selection,
    };
    const { content, echoed } = await attach([given]);
    expect(content).toBe(selectedText('line 1', 'alpha'));
    expect(echoed).toEqual([given]);
  });

  test('without text are read by their range', async () => {
    const { content, echoed } = await attach([
      { type: 'selection', filePath: at('a.txt'), selection: range(0, 1, 2) },
    ]);
    expect(content).toBe(selectedText('lines 1-2', 'alpha\nbe'));
    expect(echoed).toMatchObject([{ displayName: 'a.txt', text: 'alpha\nbe' }]);
  });

  test('without a range are the whole file', async () => {
    const { content } = await attach([
      {
        type: 'selection',
        filePath: at('no-newline.txt'),
        displayName: 'a.txt',
        selection: null,
        text: null,
      },
    ]);
    expect(content).toBe(selectedText('lines 1-2', 'alpha\nbeta'));
  });
});

describe('blobs and references', () => {
  test('a text is a part of its own', async () => {
    const data = Buffer.from('hello txt').toString('base64');
    const { content } = await attach([{ type: 'blob', mimeType: 'text/plain', data, displayName: 't.txt' }]);
    expect(content).toEqual([
      { type: 'text', text: 'NOW\n\nLook' },
      { type: 'text', text: '<attachment mimeType="text/plain" name="t.txt">\nhello txt\n</attachment>' },
    ]);
  });

  test('an image is shown with its name', async () => {
    const { content } = await attach([
      { type: 'blob', mimeType: 'image/png', data: png, displayName: 'dot' },
    ]);
    expect(content).toEqual([
      {
        type: 'text',
        text: 'NOW\n\nLook\n\n<system_reminder>\nThe user mentioned images and they have been attached to this message in the order they were mentioned.\n</system_reminder>',
      },
      { type: 'text', text: 'dot' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    ]);
  });

  test('a reference is one line', async () => {
    const reference = {
      type: 'github_reference',
      number: 12,
      title: 'T',
      referenceType: 'issue',
      state: 'open',
      url: 'https://x.test/12',
    };
    const { content, echoed } = await attach([reference]);
    expect(content).toBe(
      'NOW\n\nLook\n\n\n\n<github_references>\n#12 - T [issue] [open] (https://x.test/12)\n</github_references>',
    );
    expect(echoed).toEqual([reference]);
  });

  test('of no known kind are refused by name', async () => {
    const { session } = await runtime.session([]);
    const failure = await session.failure('session.send', { prompt: 'x', attachments: [{ type: 'smell' }] });
    expect(failure).toEqual({
      code: -32602,
      message: expect.stringContaining('Request session.send failed with message: attachments.0'),
    });
  });
});
