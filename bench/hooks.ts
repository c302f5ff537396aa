import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RuleModel } from '@groundcrew/testkit';
import { BenchRuntime } from './client.js';
import { rule } from './measures.js';
import { timed, typical } from './statistics.js';

const usage = `What hooks that answer at once add to a turn with one tool round.

  npm run bench:hooks                  a table; fails when each hook of a client that has all of them costs more than 1 ms
  npm run bench:hooks -- --turns 300   how many turns of each kind
  npm run bench:hooks -- --most 1      the most that a hook may cost, in milliseconds
`;

/** The hooks of a turn that is not the first of its session. */
const points = [
  'userPromptSubmitted',
  'userPromptTransformed',
  'preToolUse',
  'postToolUse',
  'agentStop',
  'sessionEnd',
] as const;

/** A session whose client has hooks for these points, and how long each of its turns took. */
interface Subject {
  readonly name: string;
  readonly hooks: number;
  readonly sessionId: string;
  readonly turns: number[];
}

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '200' },
    most: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;
process.exit();

async function main(): Promise<boolean> {
  const root = mkdtempSync(join(tmpdir(), 'groundcrew-bench-'));
  const runtime = new BenchRuntime(await RuleModel.open(rule), { root });
  try {
    await runtime.connect();
    const subjects = await open(runtime);
    // Side by side: what else the machine does, it does to all of them.
    for (let turn = -10; turn < Number(values.turns); turn++)
      for (const subject of subjects) {
        const milliseconds = await timed(() => runtime.turn(subject.sessionId, 'Use the tool'));
        if (turn >= 0) subject.turns.push(milliseconds);
      }
    return report(subjects);
  } finally {
    await runtime.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

async function open(runtime: BenchRuntime): Promise<readonly Subject[]> {
  const subject = async (name: string, types: readonly string[]): Promise<Subject> => ({
    name,
    hooks: types.length,
    sessionId: await runtime.create(types.length > 0 ? { hooks: true, hookOptions: { types } } : {}),
    turns: [],
  });
  const none = await subject('no hooks', []);
  const again = await subject('no hooks, again', []);
  const each = await Promise.all(points.map((point) => subject(point, [point])));
  return [none, again, ...each, await subject('all of them', points)];
}

/** By what turns take when nothing else disturbs them. */
function report(subjects: readonly Subject[]): boolean {
  const [plain] = subjects;
  if (!plain) return false;
  const lines = subjects.map(({ name, hooks, turns }) => {
    const added = typical(turns) - typical(plain.turns);
    return { name, turn: typical(turns), added, perHook: hooks > 0 ? added / hooks : 0 };
  });
  console.log('                          turn    added per hook   (lower quartiles, ms)');
  for (const { name, turn, added, perHook } of lines)
    console.log(
      `${name.padEnd(22)} ${[turn, added, perHook].map((value) => value.toFixed(2).padStart(9)).join('')}`,
    );
  return (lines.at(-1)?.perHook ?? Number.NaN) <= Number(values.most);
}
