import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, hold, say, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { terminalWorld } from './world.js';

const world = terminalWorld();

/** What would wipe the screen, or what is above it, or take the mouse. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of terminals
const wiping = /\u001b\[[23]J|\u001bc|\u001b\[\?(?:1049|1047|47|1000|1002|1003|1006)h/;

/** What is shown where a prompt is written, while nothing runs. */
const idle = 'Ask, or / for commands';

/** The lines of the conversation: without greeting and live part. */
function conversation(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex((text) => text.startsWith('❯ '));
  const last = lines.findLastIndex((text) => text.startsWith('❯ '));
  return lines.slice(first, last - 2);
}

test('an answer is printed once, and stays where it is however the window changes', async () => {
  const lines = Array.from({ length: 40 }, (_, at) => `- item ${at + 1} ${'word '.repeat(12).trim()}`);
  const pieces = lines.map((text) => `${text}\n`);
  const held = hold(streamChunks(...pieces));
  const screen = await world.attach([held.reply], { columns: 100, rows: 24 });
  screen.enter('List them');
  await screen.sees('waiting for the model');
  screen.resize(70, 24);
  screen.resize(110, 30);
  held.release();
  await screen.sees('item 40');
  await screen.sees(idle);
  for (const [columns, rows] of [
    [60, 24],
    [120, 30],
    [64, 18],
    [100, 24],
  ] as const) {
    screen.resize(columns, rows);
    const bound = Math.max(10, columns - 1);
    // The screen has drawn for the new width when a key is echoed.
    screen.type('x');
    await screen.until('the key', () => screen.rows.some((text) => text.startsWith('❯ x')));
    screen.type('\u007f');
    await screen.until('no key', () => !screen.rows.some((text) => text.startsWith('❯ x')));
    expect(screen.rows.every((text) => text.length <= bound + 1)).toBe(true);
  }
  const words = screen.text.replaceAll(/\s+/g, ' ');
  for (let at = 1; at <= 40; at++)
    expect(words.split(`• item ${at} ${'word '.repeat(12).trim()}`)).toHaveLength(2);
  expect(screen.lines.filter((text) => text.startsWith('❯ '))).toEqual([
    '❯ List them',
    '❯ Ask, or / for commands',
  ]);
  // Nothing of a frame that was, and no row that it has left behind.
  expect(screen.lines.filter((text) => /waiting for|scripted/.test(text))).toHaveLength(1);
  expect(conversation(screen.lines).join('\n')).not.toContain('\n\n\n');
  expect(screen.raw).not.toMatch(wiping);
  screen.enter('/quit');
  expect(await screen.ended).toBe(0);
});

test('Markdown has its looks: headings, tables, code, and lines that are whole when they are copied', async () => {
  const long = `https://example.com/${'a'.repeat(120)}`;
  const text = [
    '## Title',
    '',
    '| name | n |',
    '| --- | ---: |',
    '| 日本語 | 1 |',
    '| abc | 200 |',
    '',
    '```ts',
    'const x = "1"; // one',
    '```',
    '',
    long,
    '',
    '1. first',
    '2. second **bold**',
    '',
    'End.',
  ].join('\n');
  const screen = await world.shared(say(text));
  screen.enter('Go');
  await screen.sees('End.');
  await screen.sees(idle);
  const shown = conversation(screen.newLines);
  expect(shown).toEqual([
    '❯ Go',
    '',
    'Title',
    '',
    'name   │   n',
    '───────┼────',
    '日本語 │   1',
    'abc    │ 200',
    '',
    '  const x = "1"; // one',
    '',
    long,
    '',
    '1. first',
    '2. second bold',
    '',
    'End.',
  ]);
  expect(screen.raw).toContain('\u001b[35mconst\u001b[0m');
});

test('a command is shown in full before it runs, and its user may say why not', async () => {
  const bash = (id: string, command: string) =>
    callTools({ id, name: 'bash', arguments: { command, description: 'Look' } });
  const screen = await world.shared(
    bash('c1', 'echo one; printf "\\033[2J two"'),
    bash('c2', 'echo three'),
    say('Understood.'),
  );
  const before = world.model.requests.length;
  screen.enter('Run it');
  await screen.sees('Allow to run this command?');
  await screen.sees('echo one; printf "\\033[2J two"');
  screen.type('y');
  // The output had a sequence in it: what is left is its text.
  await screen.sees(' two');
  await screen.sees('  echo three');
  screen.type('r');
  await screen.sees('Why not?');
  screen.enter('not today');
  await screen.sees('Understood.');
  const asked = await world.model.asked(before + 3);
  expect(asked.body.messages.at(-1)?.content).toContain('not today');
  expect(screen.raw).not.toMatch(wiping);
});

test('an edit is asked about with its diff, and shown with it', async () => {
  const path = join(world.directory, 'note.txt');
  writeFileSync(path, 'one\ntwo\nthree\n');
  const edit = { path, old_str: 'two', new_str: '2' };
  const screen = await world.shared(
    callTools({ id: 'e1', name: 'edit', arguments: edit }),
    say('Changed.'),
    callTools({ id: 'v1', name: 'view', arguments: { path } }),
    say('Seen.'),
  );
  screen.enter('Change it');
  await screen.sees('Yes, once');
  expect(screen.text).toContain('-two\n+2\n');
  screen.type('y');
  await screen.sees('Changed.');
  const lines = screen.newLines.map((text) => text.trim());
  expect(lines.filter((text) => text === '-two' || text === '+2')).toEqual(['-two', '+2']);
  expect(screen.text).toContain('+1 −1');
  screen.enter('Look at it');
  await screen.sees('Allow to read');
  screen.type('y');
  await screen.sees('Seen.');
  // A file that is only shown has no lines that were added or removed.
  expect(screen.newLines.find((text) => text.includes('view'))).toMatch(/note\.txt$/);
});

test('ten thousand pasted lines are one block, and reach the model whole', async () => {
  const pasted = Array.from({ length: 10_000 }, (_, at) => `line ${at + 1}`).join('\n');
  const screen = await world.shared(say('Read.'));
  const before = world.model.requests.length;
  screen.type('Look: ');
  screen.paste(pasted);
  await screen.sees('❯ Look: [pasted text 1: 10,000 lines]');
  screen.enter(' please');
  await screen.sees('Read.');
  const asked = await world.model.asked(before + 1);
  expect(asked.body.messages.at(-1)?.content).toContain(`Look: ${pasted} please`);
});

test('what is pasted while a question is open answers nothing, and is the next prompt', async () => {
  const pasted = Array.from({ length: 10_000 }, (_, at) => `y ${at + 1}`).join('\n');
  const screen = await world.shared(
    callTools({ id: 'p1', name: 'bash', arguments: { command: 'touch pasted.txt', description: 'Make it' } }),
  );
  screen.enter('Make it');
  await screen.sees('Yes, once');
  screen.paste(pasted);
  await screen.sees('The paste is kept for the next prompt');
  // Another key than Enter is for the question again.
  screen.type('\u001b[B\u001b[B\u001b[B');
  await screen.until('another choice', () => screen.rows.some((row) => row.startsWith('❯ n')));
  expect(screen.text).not.toContain('The paste is kept');
  screen.paste('\nmore of it');
  await screen.sees('The paste is kept for the next prompt');
  screen.type('\r');
  await screen.sees('waits: y 1');
  expect(screen.rows.some((row) => row.startsWith('❯ n'))).toBe(true);
  expect(existsSync(join(world.directory, 'pasted.txt'))).toBe(false);
  const before = world.model.requests.length;
  world.model.play(say('Not made.'), say('All of it was read.'));
  screen.type('\r');
  await screen.sees('All of it was read.');
  await screen.sees(idle);
  expect(existsSync(join(world.directory, 'pasted.txt'))).toBe(false);
  const asked = await world.model.asked(before + 2);
  expect(asked.body.messages.at(-1)?.content).toContain(`${pasted}\nmore of it`);
});

test('wide characters and combining marks take the columns they take', async () => {
  const screen = await world.shared();
  screen.type('日本語e\u0301x');
  await screen.until('the text', () => screen.cursor.column === 2 + 6 + 1 + 1);
  screen.type('\u007f');
  await screen.until('x gone', () => screen.cursor.column === 2 + 6 + 1);
  screen.type('\u007f');
  await screen.until('the letter and its mark gone', () => screen.cursor.column === 2 + 6);
  screen.type('\u007f');
  await screen.until('one wide character gone', () => screen.cursor.column === 2 + 4);
  expect(screen.rows[screen.cursor.row]).toBe('❯ 日本');
  screen.type('\u0015');
  await screen.until('nothing written', () => screen.cursor.column === 2);
});

test('what models, tools and pastes say cannot steer the terminal', async () => {
  const sequences =
    'a\u001b[2Jb\u001b]0;title\u0007c\u009b3Jd\u202egnp.exe\u001b[?1049h\u001bPq#0\u001b\\e\u001b]52;c;eA==\u0007\u009d52;c;eA==\u009c\u001b[9;9H\u200f';
  const hostile = `${sequences}\rf\ud800`;
  writeFileSync(join(world.directory, 'hostile.txt'), `${hostile}\n`);
  const cell = `| ${sequences.replaceAll('\u0007', '')} | x |`;
  const screen = await world.shared(
    say(`${hostile}\n\n\`\`\`\n${hostile}\n\`\`\`\n\n| a | b |\n| - | - |\n${cell}\n\nSaid.`),
    callTools({ id: 'h1', name: 'bash', arguments: { command: 'cat hostile.txt', description: sequences } }),
    say('Run.'),
    // Deeper than a parser can go.
    say(`${'>'.repeat(20_000)} deep\n\nEnd.`),
  );
  screen.enter('Say it');
  await screen.sees('Said.');
  await screen.sees(idle);
  screen.type('Pasted ');
  screen.paste(hostile);
  await screen.sees('\ufffd');
  screen.type('\r');
  await screen.sees('Yes, once');
  expect(screen.text).toContain('why: a\\x1b[2Jb');
  screen.type('y');
  await screen.sees('Run.');
  await screen.sees(idle);
  screen.enter('Say it again');
  await screen.sees('End.');
  await screen.sees(idle);
  expect(screen.raw).not.toMatch(wiping);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of terminals
  expect(screen.raw).not.toMatch(/\u001b[\]P]|\u001b\[9;9H|[\u0080-\u009f\u200f\u202e]/);
  expect(screen.text).toContain('\\u202egnp.exe');
});

test('characters that a terminal takes for wider than they are leave nothing behind, at any width', async () => {
  const scripts = ['👨‍👩‍👧‍👦', '🏳️‍🌈', 'e\u0301\u0323', '日本', 'שלום', 'مرحبا', 'so\u00adft', 'ﷺ'];
  const row = (at: number) => `${at}: ${`${scripts.join(' ')} `.repeat(12).trim()}`;
  const rows = [1, 2, 3].map(row);
  const screen = await world.attach([streamChunks(rows.join('\n'))], { columns: 90, rows: 24 });
  screen.enter('Write');
  await screen.sees('3: ');
  await screen.sees(idle);
  for (const columns of [40, 120, 33, 90]) {
    const written = screen.raw.length;
    screen.resize(columns, 24);
    screen.type('x');
    await screen.until('the key', () => screen.raw.slice(written).includes('x'));
  }
  // This emulator takes a family for twice as wide as others do.
  for (const key of `${(scripts[0] ?? '').repeat(120)}|abc`.split('|')) {
    const written = screen.raw.length;
    screen.type(key);
    await screen.until('the key', () => screen.raw.slice(written).includes(key.slice(-1)));
  }
  screen.type('\u0015');
  await screen.sees(idle);
  const plain = (text: string) => text.replaceAll(/\s+/g, '').replaceAll('\u00ad', '');
  const shown = plain(conversation(screen.lines).join(''));
  expect(shown).toBe(plain(`❯Write${rows.join('')}`));
  expect(screen.lines.filter((text) => text.startsWith('scripted'))).toHaveLength(1);
});

test('a long question is asked whole on a small screen, and a small one on a large screen', async () => {
  const command = Array.from({ length: 30 }, (_, at) => `echo line ${at + 1} of a command`).join('\n');
  const asked = (id: string) => callTools({ id, name: 'bash', arguments: { command, description: 'Look' } });
  const screen = await world.attach([asked('s1'), asked('s2'), asked('s3'), say('Three times.')], {
    columns: 40,
    rows: 12,
  });
  screen.enter('Ask');
  const shownLines = () =>
    screen.lines.flatMap((text) => /^ {2}echo line (\d+) of a command$/.exec(text)?.[1] ?? []).map(Number);
  const all = Array.from({ length: 30 }, (_, at) => at + 1);
  await screen.sees('No, and say why');
  expect(shownLines()).toEqual(all);
  screen.resize(20, 5);
  await screen.until('the small window', () => screen.rows.length === 5);
  screen.type('y');
  await screen.until('the second question', () => shownLines().length >= 60);
  await screen.until('its choice', () => screen.rows.some((text) => text.includes('Yes, once')));
  screen.type('y');
  await screen.until('the third question', () => shownLines().length >= 90);
  screen.resize(200, 60);
  await screen.sees('No, and say why');
  screen.type('y');
  await screen.sees('Three times.');
  await screen.sees(idle);
  expect(shownLines()).toEqual([...all, ...all, ...all]);
  expect(screen.raw).not.toMatch(wiping);
});

test('where no shell could go on with it, Ctrl-Z stops nothing, and keys are read as before', async () => {
  const screen = await world.shared();
  screen.type('\u001a');
  screen.type('still here');
  await screen.sees('❯ still here');
  screen.type('\u0015');
  await screen.sees(idle);
});

test('after a paste whose end never comes, Ctrl-C is a key again', async () => {
  const screen = await world.shared();
  screen.type('\u001b[200~without an end');
  const written = screen.raw.length;
  screen.resize(70, 24);
  await screen.until('the new size', () => screen.raw.length > written);
  screen.resize(80, 24);
  screen.type('\u0003');
  await screen.sees('Ctrl-C again to leave');
  screen.type('heard');
  await screen.sees('❯ heard');
  screen.type('\u0015');
  await screen.sees(idle);
});

test('a prompt waits for its turn or joins the one that runs, and Ctrl-C stops it', async () => {
  const first = hold(callTools({ id: 'v1', name: 'view', arguments: { path: world.directory } }));
  const screen = await world.attach([first.reply, say('Both seen.'), say('Third seen.')]);
  const before = world.model.requests.length;
  screen.enter('First');
  await world.model.asked(before + 1);
  screen.enter('Third');
  await screen.sees('waits: Third');
  screen.type('Second');
  await screen.sees('❯ Second');
  screen.type('\u001b');
  await screen.sees('waits: steering: Second');
  first.release();
  await screen.sees('Allow to read');
  screen.type('y');
  await screen.sees('Third seen.');
  await screen.sees(idle);
  expect(screen.lines.filter((text) => /^❯ |seen/.test(text))).toEqual([
    '❯ First',
    '❯ Second',
    'Both seen.',
    '❯ Third',
    'Third seen.',
    '❯ Ask, or / for commands',
  ]);
  const stopped = hold(say('never'));
  world.model.play(stopped.reply);
  screen.enter('Fourth');
  await world.model.asked(before + 4);
  screen.type('\u0003');
  await screen.sees('Ctrl-C again to leave');
  await screen.misses('waiting for');
  screen.type('\u0003');
  expect(await screen.ended).toBe(130);
  stopped.release();
});

test('files are completed after @ and go along', async () => {
  writeFileSync(join(world.directory, 'a long name.md'), 'Text of the file');
  const screen = await world.shared(say('Read it.'));
  const before = world.model.requests.length;
  screen.type('Look at @long');
  await screen.sees('▸ @"a long name.md"');
  screen.type('\t');
  await screen.sees('❯ Look at @"a long name.md"');
  screen.type('\r');
  await screen.sees('Read it.');
  const asked = await world.model.asked(before + 1);
  expect(JSON.stringify(asked.body.messages.at(-1))).toContain('a long name.md');
  expect(screen.text).toContain('  + a long name.md');
});

test('a session goes on in another screen, with all that was said', async () => {
  const screen = await world.attach([say('Remembered.')]);
  screen.enter('Remember 7');
  await screen.sees('Remembered.');
  const [, id = ''] = /session ([\w-]+)/.exec(screen.text) ?? [];
  const other = await world.attach([say('It was 7.')], { args: ['--resume', id.slice(0, 8)] });
  await other.sees('Remembered.');
  other.enter('Which one?');
  await other.sees('It was 7.');
  await screen.sees('It was 7.');
  await other.sees(idle);
  await screen.sees(idle);
  const spoken = (lines: readonly string[]) => lines.filter((text) => /^(?:❯ |It was|Remembered)/.test(text));
  expect(spoken(other.lines)).toEqual(spoken(screen.lines));
  // Prompts of other sessions are remembered too.
  other.type('\u001b[A\u001b[A');
  await other.until('an earlier prompt', () => other.rows.some((text) => text.startsWith('❯ Remember 7')));
  other.type('\u0015');
  screen.enter(`/export ${id}.md`);
  await screen.sees('The conversation is in');
  expect(existsSync(join(world.directory, `${id}.md`))).toBe(true);
});

test('without colours nothing but places is sent to the terminal', async () => {
  const screen = await world.attach([say('**Plain** `text`')], { environment: { NO_COLOR: '1' } });
  screen.enter('Go');
  await screen.sees('Plain text');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of terminals
  expect(screen.raw).not.toMatch(/\u001b\[[0-9;]*m/);
});

test('what Node warns of is a line of the screen, and not written over it', async () => {
  const warns = 'data:text/javascript,process.on(`SIGUSR2`,()=>process.emitWarning(`worn`))';
  const screen = await world.attach([], { environment: { NODE_OPTIONS: `--import ${warns}` } });
  process.kill(screen.pid, 'SIGUSR2');
  await screen.sees('! warning: Warning: worn');
  await screen.sees(idle);
  expect(screen.raw).not.toContain('(Use `node');
});
