import { byExtent } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { buildMutant, type Mutation } from '../chaos/mutations.js';
import { examineGate } from './gate-exam.js';

const gate = 'packages/runtime/src/gate';

/** Each takes one check out of the program; the examination must notice every one of them. */
const holes: readonly Mutation[] = [
  {
    name: 'the gate asks no judge',
    file: `${gate}/call-permissions.ts`,
    to: "const verdict = { type: 'allow', rule: undefined, problem: undefined } as const; void judge; void subject; void rules;",
  },
  {
    name: 'the gate lets forbidden tools through',
    file: `${gate}/prepare.ts`,
    to: 'void toolSubject;',
  },
  {
    name: 'tools look at forbidden places',
    file: 'packages/runtime/src/workspace/paths.ts',
    to: '',
  },
  {
    name: 'permission given before outlives a rule',
    file: `${gate}/call-permissions.ts`,
    to: 'const isForbidden = false;',
  },
  {
    name: 'rules that deny are not asked',
    file: 'packages/runtime/src/permissions/policy.ts',
    to: 'const rule = [].find((each) => isForbidden(subject, each)); void deny;',
  },
  {
    name: 'what no client can be asked about is allowed',
    file: 'packages/runtime/src/permissions/policy.ts',
    to: "return { type: 'allow', because: '' };",
  },
  {
    name: 'commands of users pass no judge',
    file: 'packages/runtime/src/commands/user-shell.ts',
    to: 'void verdict; void refusalBy; return undefined;',
  },
  {
    name: 'the rules of the home reach no session',
    file: 'packages/cli/src/compose.ts',
    to: 'userRules: () => { void userRules; return { deny: [], allow: [] }; },',
  },
];

describe('every effect passes one gate', () => {
  test('no way leads round it', async () => {
    expect(await examineGate(await buildMutant(undefined))).toEqual([]);
  }, 60_000);

  // Each is a program of its own to build: the short form tries the first two.
  test.each(byExtent({ short: holes.slice(0, 2), full: holes }).map((hole) => [hole.name, hole] as const))(
    'the examination notices when %s',
    async (_, hole) => {
      expect(await examineGate(await buildMutant(hole))).not.toEqual([]);
    },
    60_000,
  );
});
