import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import { inParent, NoDirectory } from './held-parent.js';

const home = temporaryDirectory();
afterAll(() => home.remove());
const root = join(home.path, 'files');
const outside = join(home.path, 'outside');
mkdirSync(outside);

test.runIf(process.platform === 'linux')(
  'a file goes where its directory was opened, whatever is put in the place of it meanwhile',
  async () => {
    await inParent(root, { names: ['a', 'b'], makes: true }, async (at) => {
      renameSync(join(root, 'a'), join(root, 'moved'));
      symlinkSync(outside, join(root, 'a'));
      writeFileSync(at('file'), 'x');
    });
    expect([readdirSync(join(root, 'moved', 'b')), readdirSync(outside)]).toEqual([['file'], []]);
  },
);

test('a link on the way is not followed, and nothing is made behind it', async () => {
  symlinkSync(outside, join(root, 'link'));
  const work = async () => 'reached';
  for (const names of [['link'], ['link', 'deep']])
    await expect(inParent(root, { names, makes: true }, work)).rejects.toThrow(NoDirectory);
  expect(readdirSync(outside)).toEqual([]);
});
