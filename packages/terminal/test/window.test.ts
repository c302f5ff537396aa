import { byExtent, hold, say, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import type { TestScreen } from './screen.js';
import { terminalWorld } from './world.js';

const world = terminalWorld();
const idle = 'Ask, or / for commands';

/** Numbered lines, each a paragraph of its own that fits into the narrowest window. */
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `n${from + at}.\n\n`);

function numbers(screen: TestScreen): readonly number[] {
  return screen.lines.flatMap((text) => /^n(\d+)\.$/.exec(text)?.[1] ?? []).map(Number);
}

const upTo = (most: number) => Array.from({ length: most }, (_, at) => at);

test('a window that is lower for less than a moment loses no printed line, whatever stands below the cursor', async () => {
  const screen = await world.attach([streamChunks(...numbered(0, 60))], { columns: 60, rows: 20 });
  screen.enter('Count');
  await screen.sees('n59.');
  await screen.sees(idle);
  for (const [typed, rows] of [
    ['a', 19],
    ['/', 12],
    ['/re', 8],
    ['b', 3],
  ] as const) {
    screen.type(typed);
    await screen.until(typed, () => screen.rows.some((text) => text.startsWith(`❯ ${typed}`)));
    screen.flicker(60, rows);
    // Each key is drawn, and each frame takes the one before away.
    for (const key of ['x', 'y', 'z']) {
      const written = screen.raw.length;
      screen.type(key);
      await screen.until('the key', () => screen.raw.slice(written).includes(key));
    }
    screen.type('\u0015');
    await screen.sees(idle);
    expect([typed, numbers(screen)]).toEqual([typed, upTo(60)]);
  }
  expect(screen.lines.filter((text) => text.startsWith('❯ '))).toEqual(['❯ Count', `❯ ${idle}`]);
});

test('a draft of characters that the terminal takes for narrower takes no printed line along when the window gets narrower', async () => {
  const screen = await world.attach([streamChunks(...numbered(0, 30))], { columns: 60, rows: 20 });
  screen.enter('Count');
  await screen.sees('n29.');
  await screen.sees(idle);
  // This emulator gives a watch one column, newer terminals two.
  for (let row = 0; row < 5; row += 1) screen.type(`${'⌚'.repeat(20)}\n`);
  screen.type('here');
  await screen.sees('  here');
  screen.resize(30, 20);
  screen.type('Q');
  await screen.sees('hereQ');
  expect(numbers(screen)).toEqual(upTo(30));
});

test('a window of three rows shows what is written in it', async () => {
  const screen = await world.attach([say('Heard.')], { columns: 40, rows: 3 });
  screen.type('Look');
  await screen.until('the draft', () => screen.rows.some((text) => text.startsWith('❯ Look')));
  screen.type('\r');
  await screen.sees('Heard.');
});

const pieces = [
  '👨‍👩‍👧‍👦',
  '🇩🇪',
  '🏳️‍🌈',
  '각',
  'e\u0301\u0323',
  '日本',
  'שלום',
  'so\u00adft',
  'plain ',
  '\u0301',
  '⌚️',
  'ﷺ',
];

/** Letters that are in no word of the screen itself. */
const rareLetters = 'BDFGHJKLPQRUVXYZ';

/** The same numbers for the same seed. */
function dice(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
}

const seeds = byExtent({ full: 12, short: 2 });

test.each(upTo(seeds))(
  'through any windows, down to 10 columns and 3 rows, with any draft in them, printed lines are there once and in order: seed %i',
  { timeout: 60_000 },
  async (seed) => {
    const roll = dice(seed + 1);
    const total = 120;
    const held = hold(streamChunks(...numbered(60, total)));
    const screen = await world.attach([streamChunks(...numbered(0, 60)), held.reply], {
      columns: 60,
      rows: 20,
    });
    screen.enter('Count');
    await screen.sees('n59.');
    await screen.sees(idle);
    screen.enter('More');
    await screen.sees('waiting for');
    for (let step = 0; step < 60; step += 1) {
      const act = roll(7);
      if (act < 2) screen.resize(10 + roll(21 + 60 * roll(2)), 3 + roll(roll(2) === 0 ? 6 : 28));
      else if (act === 2) screen.flicker(10 + roll(80), 3 + roll(20));
      else if (act === 3) screen.type(pieces[roll(pieces.length)] ?? '');
      else if (act === 4)
        screen.type(['\u007f', '\u001b[D', '\u001b[C', '\u000a', '/', '\u0015'][roll(6)] ?? '');
      else {
        // Some steps follow one another at once, some after the window has come to rest and was drawn.
        const before = screen.raw.length;
        // Another one each time: a frame that is the same as the last is not drawn again.
        const key = rareLetters[step % rareLetters.length] ?? '';
        screen.type(key);
        await screen.until('a frame with it', () => screen.raw.length > before);
      }
      if (step === 30) held.release();
    }
    screen.resize(80, 24);
    await screen.until('the last line', () => numbers(screen).includes(total - 1));
    // Ctrl-C empties a line of any height.
    screen.type('\u0003');
    await screen.sees(idle);
    expect(numbers(screen)).toEqual(upTo(total));
  },
);

test('a terminal that reads nothing for a while gets all of a long answer, once and in order', {
  timeout: 120_000,
}, async () => {
  const total = byExtent({ full: 50_000, short: 8_000 });
  const screen = await world.attach([streamChunks(...numbered(0, total)), say('Still here.')], {
    columns: 60,
    rows: 20,
    patience: 90_000,
  });
  screen.enter('Count');
  await screen.sees('n100.');
  const goOn = screen.stopReading();
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  goOn();
  await screen.sees(`n${total - 1}.`);
  await screen.sees(idle);
  expect(numbers(screen)).toEqual(upTo(total));
  screen.enter('Are you there?');
  await screen.sees('Still here.');
});
