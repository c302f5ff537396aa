import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const program = fileURLToPath(new URL('../bin/groundcrew.js', import.meta.url));
const server = fileURLToPath(new URL('../../../e2e/fixtures/mcp-server.mjs', import.meta.url));
let home: ReturnType<typeof temporaryDirectory>;

beforeAll(() => {
  home = temporaryDirectory();
});
afterAll(() => home.remove());

function groundcrew(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'mcp', ...words], {
    encoding: 'utf8',
    cwd: home.path,
    env: { PATH: process.env.PATH, HOME: home.path, GROUNDCREW_HOME: home.path },
  });
  return { status, stdout, stderr };
}

test('servers are added, listed, tested and removed', () => {
  expect(groundcrew('ls').stdout).toContain('There is no MCP server here');
  const script = JSON.stringify({ tools: ['echo'] });
  expect(groundcrew('add', 'good', '--env', 'A=1', '--', process.execPath, server, script).status).toBe(0);
  expect(groundcrew('add', 'bad', '--', 'no-such-program').status).toBe(0);
  expect(groundcrew('add', 'far', '--url', 'https://example.com/mcp', '--header', 'X-Key: 1').status).toBe(0);
  expect(JSON.parse(groundcrew('ls', '--json').stdout)).toMatchObject([
    { name: 'good', source: 'user', enabled: true, type: 'stdio' },
    { name: 'bad', where: 'no-such-program' },
    { name: 'far', type: 'http', where: 'https://example.com/mcp' },
  ]);
  const good = groundcrew('test', 'good');
  expect(good.stdout).toMatch(
    /^good is connected after \d+ ms \(protocol \S+\), 1 tools\n {2}echo {2}Does echo\n$/,
  );
  expect(good.status).toBe(0);
  const bad = groundcrew('test', 'bad');
  expect(bad.stdout).toMatch(/^bad failed after \d+ ms: command not found: no-such-program\n$/);
  expect(bad.status).toBe(1);
  expect(groundcrew('rm', 'bad').status).toBe(0);
  expect(groundcrew('rm', 'bad').stderr).toContain('There is no server bad in');
});

test('a server that is there is not written over, and each has a name', () => {
  const before = groundcrew('ls', '--json').stdout;
  const again = groundcrew('add', 'far', '--url', 'https://example.org/other');
  expect(again).toMatchObject({
    status: 1,
    stderr: 'There is a server far already: groundcrew mcp rm far\n',
  });
  expect(groundcrew('add', ' ', '--', 'ls')).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('needs a name'),
  });
  expect(groundcrew('ls', '--json').stdout).toBe(before);
});

test('what would have no effect is refused', () => {
  expect(groundcrew('add', 'x', '--url', 'nowhere').stderr).toContain('nowhere is no address');
  expect(groundcrew('add', 'x', '--url', 'https://example.com/mcp', '--env', 'A=1').stderr).toContain(
    '--env has no effect on a url',
  );
  expect(groundcrew('add', 'x', '--header', 'A: 1', '--', 'ls').stderr).toContain(
    '--header has no effect on a command',
  );
  expect(groundcrew('login', 'good').stderr).toContain('The server good is a command');
});
