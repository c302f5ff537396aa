import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RulesFault, readRules } from './permissions-rules.js';

const read = (source: string) => readRules(source, '/home/permissions.json');
const faultOf = (source: string) => {
  try {
    read(source);
  } catch (error) {
    if (error instanceof RulesFault) return error.message;
    throw error;
  }
  return undefined;
};

test('rules are read with the line they stand on', () => {
  const source = `{
  "$schema": "https://example.com/schema.json",
  "deny": [
    { "command": "git push --force" },
    { "path": "~/.ssh" },
    { "path": "/etc", "access": "write" }
  ],
  "allow": [{ "url": "example.com" }, { "tool": "view" }]
}`;
  const origin = (line: number) => `permissions.json, line ${line}`;
  expect(read(source)).toEqual({
    deny: [
      { kind: 'shell', argument: 'git push --force', origin: origin(4) },
      { kind: 'path', argument: join(homedir(), '.ssh'), origin: origin(5) },
      { kind: 'write', argument: '/etc', origin: origin(6) },
    ],
    allow: [
      { kind: 'url', argument: 'example.com', origin: origin(8) },
      { kind: 'tool', argument: 'view', origin: origin(8) },
    ],
  });
  expect(read('{}')).toEqual({ deny: [], allow: [] });
});

test.each([
  ['', '1:1: expected a value, but the file ends'],
  ['{', '1:2: expected a name in double quotes, but the file ends'],
  ['{"deny": [', '1:11: expected a value, but the file ends'],
  ['{"deny": []\n"allow": []}', '2:1: expected ,'],
  ['{"deny": [],}', '1:13: a comma must be followed by a value'],
  ['{"deny": [1,]}', '1:13: a comma must be followed by a value'],
  ["{'deny': []}", '1:2: expected a name in double quotes'],
  ['{"deny": [nope]}', '1:11: expected a value'],
  ['{"deny": [01]}', '1:11: this is no JSON value'],
  ['{} {}', '1:4: expected the end of the file'],
  ['// no comments\n{}', '1:1: expected a value'],
  ['{"deny": [], "deny": []}', '1:14: "deny" stands here twice'],
  ['[]', '1:1: the file: expected an object'],
  ['{"denies": []}', '1:2: denies: unknown field; known are $schema, deny, allow'],
  ['{"deny": {}}', '1:10: deny: expected a list of rules'],
  ['{"deny": ["rm"]}', '1:11: deny[0]: expected an object'],
  ['{"deny": [{}]}', '1:11: deny[0]: expected one of tool, command, path, url'],
  ['{"deny": [{"url": "http://"}]}', '1:19: deny[0].url: expected a host or an address'],
  ['{"deny": [{"url": "a b.com"}]}', '1:19: deny[0].url: expected a host or an address'],
  [
    '{"allow": [{"comand": "x"}]}',
    '1:13: allow[0].comand: unknown field; known are tool, command, path, url, access',
  ],
  ['{"deny": [\n  {"command": 1}\n]}', '2:15: deny[0].command: expected a text that says something'],
  ['{"deny": [{"command": " "}]}', '1:23: deny[0].command: expected a text that says something'],
  [
    '{"deny": [{"command": "x", "path": "y"}]}',
    '1:28: deny[0].path: a rule is about one thing; make it two rules',
  ],
  ['{"deny": [{"command": "x", "access": "read"}]}', '1:28: deny[0].access: only a path has it'],
  ['{"deny": [{"path": "x", "access": "all"}]}', '1:35: deny[0].access: expected read or write'],
  [`${'['.repeat(200)}`, '1:101: this is nested too deeply'],
])('%j is refused, with its place', (source, message) => {
  expect(faultOf(source)).toBe(`/home/permissions.json:${message}`);
});

test('the published schema knows the fields that are read, and no others', () => {
  const schema = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../../docs/permissions.schema.json'), 'utf8'),
  );
  const variants: readonly { readonly required: string[]; readonly properties: object }[] =
    schema.$defs.rule.oneOf;
  const known = faultOf('{"deny": [{"x": 1}]}')?.split('known are ')[1]?.split(', ') ?? [];
  const published = variants.flatMap(({ properties }) => Object.keys(properties));
  expect([...new Set(published)].sort()).toEqual([...known].sort());
  expect(Object.keys(schema.properties)).toEqual(['$schema', 'deny', 'allow']);
  for (const { required } of variants) {
    const rule = Object.fromEntries(required.map((name) => [name, 'x']));
    expect(faultOf(JSON.stringify({ deny: [rule], allow: [rule] }))).toBeUndefined();
  }
});
