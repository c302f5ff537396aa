import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { sqlTool } from './sql.js';

const world = ToolWorld.forEachTest();
const sql = sqlTool();
const run = (query: string) => world.published(sql, { description: 'test', query });

test('todos are kept from call to call, and each statement that changes them emits an event', async () => {
  expect(await run("INSERT INTO todos (id, title) VALUES ('a', 'First')")).toBe(
    '1 row(s) inserted. Last inserted row ID: 1.',
  );
  expect(await run("UPDATE todos SET status = 'done'")).toBe('1 row(s) updated.');
  expect(await run('SELECT id, title, description, status FROM todos')).toBe(
    '1 row(s) returned:\n\n| id | title | description | status |\n| --- | --- | --- | --- |\n| a | First | NULL | done |',
  );
  expect(await run('DELETE FROM todos')).toBe('1 row(s) deleted.');
  expect(await run('SELECT * FROM todos')).toBe('Query returned 0 rows.');
  expect(world.notices).toEqual(Array(3).fill({ type: 'session.todos_changed', data: {} }));
});

test('no question is asked', async () => {
  expect(
    (await world.call(sql, { description: 'd', query: 'SELECT 1', database: 'session' })).questions,
  ).toEqual([]);
});

test('several statements are reported one by one', async () => {
  const script = `INSERT INTO todos (id, title, status) VALUES ('alpha', 'First; todo', 'pending');
-- a comment; with a semicolon
INSERT INTO todos (id, title, status) VALUES ('beta', 'Second', 'done');
INSERT INTO todo_deps (todo_id, depends_on) VALUES ('beta', 'alpha');`;
  expect(await run(script)).toBe(
    [
      'Executed 3 statement(s):',
      '1. INSERT\n   1 row(s) inserted. Last inserted row ID: 1.',
      '2. INSERT\n   1 row(s) inserted. Last inserted row ID: 2.',
      '3. INSERT\n   1 row(s) inserted. Last inserted row ID: 1.',
    ].join('\n\n'),
  );
  expect(world.notices).toHaveLength(3);
});

test('tables, views and triggers may be made', async () => {
  const done = 'Schema operation completed successfully.';
  expect(await run('CREATE TABLE items (id TEXT PRIMARY KEY, name TEXT)')).toBe(done);
  expect(
    await run(
      `CREATE TRIGGER t AFTER INSERT ON items BEGIN UPDATE items SET name = CASE WHEN name = 'x' THEN 'y' ELSE name END; END; SELECT 1 AS one`,
    ),
  ).toBe(
    `Executed 2 statement(s):\n\n1. CREATE\n   ${done}\n\n2. SELECT\n   1 row(s) returned:\n   \n   | one |\n   | --- |\n   | 1 |`,
  );
  expect(await run("WITH n(v) AS (VALUES ('x')) INSERT INTO items SELECT 'a', v FROM n")).toMatch(
    /row\(s\) changed/,
  );
  expect(await run('SELECT name FROM items')).toContain('| y |');
});

test('a wrong statement fails with what SQLite says', async () => {
  expect(await run('SELEC 1')).toBe('SQL Error: Error: near "SELEC": syntax error');
  expect(await run("INSERT INTO todos (id, title, status) VALUES ('a', 'b', 'nope')")).toMatch(
    /^SQL Error: Error: CHECK constraint failed/,
  );
  expect(await run(' ; -- nothing')).toBe('SQL Error: Error: no statement was given');
});

test('no statement reaches another file', async () => {
  const file = world.outside('x.db');
  const attempts = [
    `ATTACH DATABASE '${file}' AS other`,
    `/* c */ attach '${file}' as o`,
    `;ATTACH '${file}' AS o`,
    `SELECT 1; ATTACH '${file}' AS o`,
    `VACUUM INTO '${file}'`,
    `PRAGMA temp_store_directory = '${world.outside()}'`,
  ];
  for (const attempt of attempts) expect(await run(attempt), attempt).toMatch(/^SQL Error: .*not available/);
  expect(existsSync(file)).toBe(false);
  expect(await run('PRAGMA table_info(todo_deps)')).toContain('| depends_on |');
});

test('a query that would never end is refused, wherever it hides', async () => {
  const endless = 'WITH t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) AS c FROM t';
  const refused = "SQL Error: Error: recursive queries are not available in the session's database";
  expect(await run(endless)).toBe(refused);
  expect(await run(`CREATE TABLE x AS ${endless}`)).toBe(refused);
  const stored = 'SQL Error: Error: WITH is not available in views and triggers';
  expect(await run(`CREATE VIEW v AS ${endless}`)).toBe(stored);
  expect(
    await run(
      `CREATE TABLE y (c); CREATE TEMP TRIGGER t AFTER INSERT ON y BEGIN UPDATE y SET c = (${endless}); END`,
    ),
  ).toBe(stored);
});

test('a long answer is cut', async () => {
  await run('CREATE TABLE n (v)');
  await run('INSERT INTO n VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)');
  const published = await run('SELECT a.v FROM n a, n b, n c, n d');
  expect(published).toMatch(/^1000 row\(s\) returned:/);
  expect(published).toMatch(/\(There are more rows; only the first are shown\.\)$/);
});

test('numbers of any size, and columns of one name, are all shown', async () => {
  const query = 'SELECT 9007199254740993 AS a, 1.5 AS a, 1 AS b';
  expect(await world.published(sql, { description: 'd', query })).toBe(
    '1 row(s) returned:\n\n| a | a | b |\n| --- | --- | --- |\n| 9007199254740993 | 1.5 | 1 |',
  );
});

test('a transaction that is not committed in its call is rolled back, and the result says so', async () => {
  const begin = "BEGIN; INSERT INTO todos(id, title) VALUES ('a', 'A')";
  expect((await world.call(sql, { description: 'd', query: begin })).failure?.message).toBe(
    'SQL Error: Error: the transaction was not committed in the call that began it, and was rolled back',
  );
  expect(await world.published(sql, { description: 'd', query: 'SELECT id FROM todos' })).toBe(
    'Query returned 0 rows.',
  );
  expect((await world.call(sql, { description: 'd', query: `${begin}; BAD` })).failure?.message).toContain(
    'BAD',
  );
  const whole = `${begin}; COMMIT`;
  expect(await world.published(sql, { description: 'd', query: whole })).toContain('Executed 3 statement(s)');
  expect(await world.published(sql, { description: 'd', query: 'SELECT id FROM todos' })).toContain('| a |');
});
