import { describe, expect, test } from 'vitest';
import { readHooks } from './hooks-file.js';

const place = { path: '/project/hooks.json', base: '/project' };

test('a file in the shared format becomes commands, each with the line it stands on', () => {
  const source = `{
  "version": 1,
  "hooks": {
    "preToolUse": [
      { "type": "command", "bash": "./check.sh", "powershell": "./check.ps1", "cwd": "scripts", "timeoutSec": 5,
        "env": { "LEVEL": "high" }, "matcher": "bash|edit", "comment": "guards" }
    ],
    "sessionEnd": [{ "command": "true" }]
  }
}`;
  expect(readHooks(source, place)).toEqual({
    hooks: [
      {
        hookType: 'preToolUse',
        command: './check.sh',
        workingDirectory: '/project/scripts',
        environment: { LEVEL: 'high' },
        timeoutMs: 5000,
        onFailure: 'deny',
        matcher: /^(?:bash|edit)$/,
        origin: '/project/hooks.json:5',
      },
      {
        hookType: 'sessionEnd',
        command: 'true',
        workingDirectory: '/project',
        environment: {},
        timeoutMs: 30_000,
        onFailure: 'deny',
        origin: '/project/hooks.json:8',
      },
    ],
  });
});

describe('what cannot be taken as it is has its line and column', () => {
  test.each([
    ['{', '1:2: expected a name in double quotes, but the file ends'],
    ['{\n "hooks": { "preToolUse": [] },\n "hook": {} }', '3:2: hook: unknown field'],
    ['{ "version": 2, "hooks": {} }', '1:14: version: expected 1'],
    ['{ "version": 1 }', '1:1: hooks: expected an object'],
    ['{ "hooks": {\n "PreToolUse": [] } }', '2:2: hooks.PreToolUse: unknown field'],
    ['{ "hooks": { "preToolUse": {} } }', '1:28: hooks.preToolUse: expected a list'],
    ['{ "hooks": { "preToolUse": [\n {} ] } }', '2:2: hooks.preToolUse[0]: expected'],
    [
      '{ "hooks": { "preToolUse": [{ "type": "prompt" }] } }',
      '1:39: hooks.preToolUse[0].type: expected "command"',
    ],
    [
      '{ "hooks": { "preToolUse": [{ "command": "" }] } }',
      '1:42: hooks.preToolUse[0].command: expected a text',
    ],
    ['{ "hooks": { "preToolUse": [{ "command": "x", "timeoutSec": 0 }] } }', 'timeoutSec: expected seconds'],
    [
      '{ "hooks": { "preToolUse": [{ "command": "x", "matcher": "(" }] } }',
      'matcher: expected a regular expression',
    ],
    ['{ "hooks": { "preToolUse": [{ "command": "x", "env": { "A": 1 } }] } }', 'env.A: expected a text'],
    [
      '{ "hooks": { "preToolUse": [{ "command": "x", "onFailure": "?" }] } }',
      'onFailure: expected deny or allow',
    ],
  ])('%s', (source, problem) => {
    const read = readHooks(source, place);
    expect(read.hooks).toEqual([]);
    expect(read.problem).toContain('/project/hooks.json:');
    expect(read.problem).toContain(problem);
  });
});
