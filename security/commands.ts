import { existsSync } from 'node:fs';
import { explain, hardenedEnvironment, type PolicyRules } from '@groundcrew/runtime';
import type { Attack, AttackOptions } from './attack.js';
import { type Case, commandCases } from './command-forms.js';
import { CommandWorld, type Unasked } from './command-world.js';

/**
 * Judges generated commands and runs, in real bash, those that would run unasked: because they only read, or because an
 * approval that was just given covers them. None may run, write or show anything outside, and none that only reads may change
 * anything.
 */
export async function attackCommands({ count, seed }: AttackOptions): Promise<Attack> {
  const world = new CommandWorld();
  try {
    const violations: string[] = [];
    const waiting: Record<'reads' | 'covered', Unasked[]> = { reads: [], covered: [] };
    const ran = { reads: 0, covered: 0, skipped: 0 };
    const plain = world.environment;
    const hardened = hardenedEnvironment(plain, world.work);
    const cases = commandCases(seed, world);
    for (let tried = 0; tried < count; tried += 1) {
      const value: Case = cases.next().value;
      const verdict = await judged(value, world.work);
      if (!verdict) continue;
      if (!canRun(verdict.names)) {
        ran.skipped += 1;
        continue;
      }
      const kind = verdict.onlyReads ? 'reads' : 'covered';
      waiting[kind].push({
        command: value.command,
        onlyReads: verdict.onlyReads,
        environment: verdict.isHardened ? hardened : plain,
      });
      ran[kind] += 1;
      if (waiting[kind].length === batchSizes[kind]) violations.push(...world.run(waiting[kind].splice(0)));
    }
    for (const left of Object.values(waiting)) if (left.length > 0) violations.push(...world.run(left));
    violations.push(...world.survivors());
    const measured = `${ran.reads} ran as reading, ${ran.covered} as covered, ${ran.skipped} would have run but need a network or a tool chain; the rest was asked about`;
    return { tried: count, violations, measured };
  } finally {
    world.close();
  }
}

/** Where commands change things, fewer of them share a fresh directory. */
const batchSizes = { reads: 60, covered: 10 };

/** How a command would run unasked; undefined when it would not. */
async function judged(
  { command, approved }: Case,
  workingDirectory: string,
): Promise<
  { readonly names: readonly string[]; readonly onlyReads: boolean; readonly isHardened: boolean } | undefined
> {
  const occasion = { toolName: 'bash', workingDirectory };
  const rules: PolicyRules = { ...nothingApproved, directories: [workingDirectory] };
  const wish = { type: 'command', command } as const;
  const assisted = await explain(wish, occasion, { ...rules, mode: 'assisted' });
  const names = assisted.reading?.commands.map(({ identifier }) => identifier) ?? [];
  if (assisted.type === 'allow') return { names, onlyReads: true, isHardened: assisted.isHardened ?? false };
  const given = await Promise.all(
    approved.map((text) => explain({ type: 'command', command: text }, occasion, rules)),
  );
  const commandIdentifiers = given.flatMap(
    ({ reading }) => reading?.commands.map(({ identifier }) => identifier) ?? [],
  );
  const approvals = [{ kind: 'commands', commandIdentifiers }];
  const covered = await explain(wish, occasion, { ...rules, approvals });
  if (covered.type !== 'allow') return undefined;
  return { names, onlyReads: false, isHardened: covered.isHardened ?? false };
}

const nothingApproved: Omit<PolicyRules, 'directories'> = {
  deny: [],
  allow: [],
  approvals: [],
  mode: 'manual',
  approvesAll: false,
  approvesReads: false,
  allowsAnyPath: false,
  allowsAnyUrl: false,
  canAsk: true,
};

/** Programs that reach out, end other processes, or take a tool chain with them are judged and not run. */
const notRun =
  /^(?:curl|wget|ssh|scp|sftp|rsync|kill|pkill|npm|npx|pnpm|yarn|bun|node|python3|pip3?|pytest|cargo|rustc|go|docker|kubectl|gh|terraform|systemctl|apt-get|tsc|eslint|prettier|vitest|deno|uv|poetry|java|git (?:clone|fetch|pull|push|ls-remote|remote)|sleep|tail)\b/;

function canRun(names: readonly string[]): boolean {
  return names.every((name) => !notRun.test(name) && !isMissing(name));
}

function isMissing(name: string): boolean {
  const program = name.split(' ')[0] ?? name;
  return /^(?:rg|fd|tree)$/.test(program) && !existsSync(`/usr/bin/${program}`);
}
