import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callTools, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { Recording } from './recording.js';
import type { TestScreen } from './screen.js';
import { terminalWorld } from './world.js';

const world = terminalWorld();
const size = { columns: 92, rows: 26 };

/** Where the README finds it; written with SCREENSHOTS=1. */
const picture = fileURLToPath(new URL('../../../docs/pictures/terminal.svg', import.meta.url));

/** Types as one does, a key at a time. */
async function typed(screen: TestScreen, text: string): Promise<void> {
  let written = '';
  for (const key of text) {
    screen.type(key);
    written += key;
    await screen.until(written, () => screen.rows.some((row) => row.includes(written.slice(-20).trimEnd())));
  }
  screen.type('\r');
}

test('a session of the terminal is recorded as a picture that moves', async () => {
  const source = [
    'export function total(prices: number[]): number {',
    '  return prices.length;',
    '}',
    '',
  ].join('\n');
  writeFileSync(join(world.directory, 'total.ts'), source);
  const answer =
    'I found it: `total` returned **how many** prices there are.\n\n| prices | before | now |\n| --- | --- | --- |\n| 3, 4 | 2 | 7 |\n';
  const screen = await world.attach(
    [
      callTools({ id: 'v1', name: 'view', arguments: { path: 'total.ts' } }),
      callTools({
        id: 'e1',
        name: 'edit',
        arguments: {
          path: 'total.ts',
          old_str: 'prices.length',
          new_str: 'prices.reduce((sum, price) => sum + price, 0)',
        },
      }),
      streamChunks(...answer.split(/(?<= )/)),
    ],
    { ...size, args: ['--theme', 'dark', '--allow', 'read'] },
  );
  const recording = new Recording(screen, world.directory);
  await recording.during(async () => {
    await typed(screen, 'total.ts adds up wrongly: mend it');
    await screen.sees('Yes, once');
    recording.take();
    screen.type('y');
    await screen.sees('3, 4');
    await screen.sees('Ask, or / for commands');
  });
  expect(readFileSync(join(world.directory, 'total.ts'), 'utf8')).toContain('reduce');
  const svg = recording.toSvg({ ...size, longestPause: 900 });
  for (const words of ['mend it', 'Yes, once', 'prices.reduce', 'how many']) expect(svg).toContain(words);
  expect(svg).not.toContain(tmpdir());
  if (process.env.SCREENSHOTS) writeFileSync(picture, svg);
});
