import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RuleModel } from '@groundcrew/testkit';
import { BenchRuntime } from './client.js';
import { type Bench, type Measure, measures, rule } from './measures.js';
import { measureYardsticks, type Yardsticks } from './yardsticks.js';

const usage = `Measures the program and compares it with itself.

  npm run bench                              a table
  npm run bench -- --only TEXT               measures whose name contains the text
  npm run bench -- --json FILE               writes what was measured
  npm run bench -- --compare FILE            fails when something became slower or larger than that file says
  npm run bench -- --tolerance 1.6           how much worse a figure may be
`;

/** One line of the table. `share` is the figure in yardsticks: it means the same on a fast machine and on a slow one. */
interface Figure {
  readonly name: string;
  readonly unit: Measure['unit'];
  readonly value: number;
  readonly share: number;
}

/** The program keeps its compiled code once it has served for two seconds. */
const codeCacheDelay = 2500;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    json: { type: 'string' },
    compare: { type: 'string' },
    tolerance: { type: 'string', default: '1.6' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;
process.exit();

async function main(): Promise<boolean> {
  const baseline = values.compare === undefined ? [] : readFigures(values.compare);
  const figures = await measureAll(baseline);
  const worse = figures.filter((figure) => isWorse(figure, baseline));
  console.log(table(figures, baseline));
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(figures, undefined, 2)}\n`);
  for (const { name } of worse) console.log(`WORSE by more than ${values.tolerance} times: ${name}`);
  return worse.length === 0;
}

async function measureAll(baseline: readonly Figure[]): Promise<readonly Figure[]> {
  const root = mkdtempSync(join(tmpdir(), 'groundcrew-bench-'));
  const bench = { model: await RuleModel.open(rule), root };
  const figures: Figure[] = [];
  try {
    await warmUp(bench);
    for (const measure of measures.filter(({ name }) => name.includes(values.only))) {
      let figure = await take(measure, bench);
      // Bad news is believed only when it comes three times: other programs run here, too.
      for (let again = 0; again < 2 && isWorse(figure, baseline); again++) {
        const other = await take(measure, bench);
        if (other.share < figure.share) figure = other;
      }
      figures.push(figure);
    }
    return figures;
  } finally {
    await bench.model.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A machine's mood changes within seconds: each figure has yardsticks of its own, from before and after it. */
async function take(measure: Measure, bench: Bench): Promise<Figure> {
  const before = workOf(measure, await measureYardsticks(bench.root));
  const value = await measure.run(bench);
  const after = workOf(measure, await measureYardsticks(bench.root));
  return { name: measure.name, unit: measure.unit, value, share: (2 * value) / (before + after) };
}

/** Builds the program if need be, and lets it keep its compiled code. */
async function warmUp(bench: Bench): Promise<void> {
  for (let i = 0; i < 2; i++) {
    const runtime = new BenchRuntime(bench.model, bench);
    await runtime.turn(await runtime.create(), 'Hello');
    await new Promise((resolve) => setTimeout(resolve, codeCacheDelay));
    await runtime.stop();
  }
}

function workOf({ work }: Measure, yardsticks: Yardsticks): number {
  const names = Object.keys(yardsticks) as (keyof Yardsticks)[];
  return names.reduce((sum, name) => sum + (work[name] ?? 0) * yardsticks[name], 0) || 1;
}

function readFigures(file: string): readonly Figure[] {
  return JSON.parse(readFileSync(file, 'utf8')) as readonly Figure[];
}

function timesBaseline({ name, share }: Figure, baseline: readonly Figure[]): number | undefined {
  const before = baseline.find((figure) => figure.name === name);
  return before && share / before.share;
}

function isWorse(figure: Figure, baseline: readonly Figure[]): boolean {
  return (timesBaseline(figure, baseline) ?? 0) > Number(values.tolerance);
}

function table(figures: readonly Figure[], baseline: readonly Figure[]): string {
  const lines = figures.map((figure) => {
    const { name, unit, value, share } = figure;
    const times = timesBaseline(figure, baseline);
    const cells = [value.toFixed(2).padStart(9), unit, share.toFixed(2).padStart(8)];
    return `${name.padEnd(30)} ${cells.join(' ')}${times === undefined ? '' : `  ${times.toFixed(2).padStart(6)}`}`;
  });
  const header = `${' '.repeat(30)}    figure    yardsticks${baseline.length > 0 ? '  × base' : ''}`;
  return [header, ...lines].join('\n');
}
