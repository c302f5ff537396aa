import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase, withFileLock } from '@groundcrew/store-sqlite';
import { afterAll, expect, test } from 'vitest';
import { ApprovalBook } from './approval-book.js';
import { BookFault, locationOf, rulesOf, withApproval, withLocation } from './book-contents.js';

const world = mkdtempSync(join(tmpdir(), 'book-'));
afterAll(() => rmSync(world, { recursive: true }));
let homes = 0;
const newHome = () => join(world, `home-${homes++}`);
const fileIn = (home: string) => join(home, 'permissions-config.json');
const bookOf = (home: string) => new ApprovalBook(home, withFileLock);
const add = (toolName: string) => (book: Parameters<typeof withApproval>[0]) =>
  withApproval(book, '/place', { kind: 'custom-tool', toolName });

test('what one keeps another reads, and the file is its owner’s alone', async () => {
  const home = newHome();
  const [one, other] = [bookOf(home), bookOf(home)];
  expect(other.read().locations.size).toBe(0);
  await one.change(add('a'));
  await other.change(add('b'));
  await other.change(add('b'));
  expect(locationOf(one.read(), '/place').approvals).toEqual([
    { kind: 'custom-tool', toolName: 'a' },
    { kind: 'custom-tool', toolName: 'b' },
  ]);
  expect(statSync(fileIn(home)).mode & 0o777).toBe(0o600);
  expect(readdirSync(home).sort()).toEqual(['permissions-config.json', 'run']);
});

test('changes made at once are all kept', async () => {
  const home = newHome();
  const names = Array.from({ length: 30 }, (_, index) => `tool-${index}`);
  await Promise.all(names.map((name) => bookOf(home).change(add(name))));
  const kept = locationOf(bookOf(home).read(), '/place').approvals.map(({ toolName }) => toolName);
  expect([...kept].sort()).toEqual([...names].sort());
});

test('a change waits while another process has the book', async () => {
  const home = newHome();
  mkdirSync(join(home, 'run'), { recursive: true });
  const lock = openDatabase(join(home, 'run', 'permissions-config.guard'));
  lock.exec('BEGIN EXCLUSIVE');
  const order: string[] = [];
  const changing = bookOf(home)
    .change(add('a'))
    .then(() => order.push('changed'));
  await new Promise((resolve) => setImmediate(resolve));
  order.push('released');
  lock.close();
  await changing;
  expect(order).toEqual(['released', 'changed']);
});

test('a name such as __proto__ is a place like any other', async () => {
  const home = newHome();
  const book = bookOf(home);
  await book.change((contents) => withApproval(contents, '__proto__', { kind: 'read' }));
  expect(locationOf(bookOf(home).read(), '__proto__').approvals).toEqual([{ kind: 'read' }]);
  expect(locationOf(book.read(), 'toString').approvals).toEqual([]);
  await book.change((contents) => withLocation(contents, '__proto__', { approvals: [], rules: [] }));
  expect(readFileSync(fileIn(home), 'utf8')).toBe('{\n  "locations": {}\n}\n');
});

test.each([
  '',
  '{',
  '[]',
  '{"locations": []}',
  '{"locations": {"/x": 1}}',
  '{"locations": {"/x": {"tool_approvals": [1]}}}',
  '{"locations": {"/x": {"tool_approvals": {}}}}',
  '{"trusted_folders": [1]}',
])('a damaged book, %j, is a fault, and is left as it is', async (source) => {
  const home = newHome();
  mkdirSync(home);
  writeFileSync(fileIn(home), source);
  const book = bookOf(home);
  expect(() => book.read()).toThrow(BookFault);
  await expect(book.change(add('a'))).rejects.toThrow(BookFault);
  expect(readFileSync(fileIn(home), 'utf8')).toBe(source);
});

test.skipIf(process.getuid?.() === 0)(
  'a book that cannot be written is a fault, and nothing is left behind',
  async () => {
    const home = newHome();
    const book = bookOf(home);
    await book.change(add('a'));
    chmodSync(home, 0o500);
    await expect(book.change(add('b'))).rejects.toThrow(/could not be written/);
    chmodSync(home, 0o700);
    expect(readdirSync(home).sort()).toEqual(['permissions-config.json', 'run']);
  },
);

test.each([
  [{ kind: 'commands', commandIdentifiers: ['git status', 'ls'] }, ['shell git status', 'shell ls']],
  [{ kind: 'read' }, ['read null']],
  [{ kind: 'mcp', serverName: 's', toolName: null }, ['s null']],
  [{ kind: 'mcp', serverName: 's', toolName: 't' }, ['s t']],
  [{ kind: 'custom-tool', toolName: 'x' }, ['custom-tool x']],
])('the approval %j amounts to the rules %j', (approval, rules) => {
  expect(rulesOf(approval).map(({ kind, argument }) => `${kind} ${argument}`)).toEqual(rules);
});
