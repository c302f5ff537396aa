import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Random } from '../chaos/random.js';
import { chosen } from './chosen.js';
import { longSession } from './outcomes/long-session.js';
import { openModel } from './outcomes/model.js';
import { pendingTool } from './outcomes/pending-tool.js';
import { runningTurns } from './outcomes/running-turns.js';
import { Stage } from './outcomes/stage.js';
import type { Subject } from './outcomes/subject.js';
import { type Finding, tableOf } from './outcomes/table.js';
import { twoClients } from './outcomes/two-clients.js';

const usage = `Does the same to every runtime that speaks the session protocol, from outside, and says what came of it.

  npm run outcomes                                        this program alone
  npm run outcomes -- --runtime NAME=COMMAND              another one beside it; may be repeated
  npm run outcomes -- --only NAME                         pending-tool, running-turns, two-clients or long-session
  npm run outcomes -- --runs N --seed N --turns N         kills, the lot they are drawn by, turns of the long session

COMMAND is an executable, or a script for Node, with its arguments; it is started with --headless and --stdio or on a port.
`;

const { values } = parseArgs({
  options: {
    runtime: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', multiple: true, default: [] },
    runs: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    turns: { type: 'string', default: '1000' },
    help: { type: 'boolean', default: false },
  },
});

type Scenario = (stage: Stage) => Promise<readonly Finding[]>;

const scenarios: Readonly<Record<string, Scenario>> = {
  'pending-tool': pendingTool,
  'running-turns': (stage) =>
    runningTurns(stage, { runs: Number(values.runs), random: new Random(Number(values.seed)) }),
  'two-clients': twoClients,
  'long-session': (stage) => longSession(stage, { turns: Number(values.turns) }),
};

if (values.help) process.stdout.write(usage);
else await main();
process.exit();

async function main(): Promise<void> {
  const columns = new Map<string, readonly Finding[]>();
  const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
  const subjects = [{ name: 'Groundcrew', command: [program] }, ...values.runtime.map(subjectFrom)];
  for (const subject of subjects) columns.set(subject.name, await lookAt(subject));
  console.log(tableOf(columns));
}

async function lookAt(subject: Subject): Promise<readonly Finding[]> {
  const root = mkdtempSync(join(tmpdir(), 'groundcrew-outcomes-'));
  const findings: Finding[] = [];
  try {
    for (const [name, scenario] of chosen(scenarios, values.only)) {
      const model = await openModel({ chunkPause: name === 'running-turns' ? 3 : 0 });
      console.error(`${subject.name}: ${name}`);
      findings.push(...(await scenario(new Stage(subject, model, root)).catch(failure(name))));
      await model.close();
    }
    return findings;
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** What could not be carried through is an outcome, too. */
function failure(name: string): (error: unknown) => readonly Finding[] {
  return (error) => [{ what: `${name}: not carried through`, outcome: String(error).slice(0, 200) }];
}

function subjectFrom(text: string): Subject {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`--runtime takes NAME=COMMAND, not ${text}`);
  return { name: text.slice(0, at), command: text.slice(at + 1).split(' ') };
}
