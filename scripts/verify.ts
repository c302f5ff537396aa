import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

interface Check {
  readonly name: string;
  readonly script: string;
  readonly args?: readonly string[];
}

interface Outcome {
  readonly passed: boolean;
  readonly output: string;
}

/** The slowest come first, so that two lanes end at about the same time. */
const checks: readonly Check[] = [
  { name: 'types', script: 'check:types' },
  { name: 'format and lint', script: 'check:format' },
  { name: 'arrows', script: 'check:arrows' },
  { name: 'unused', script: 'check:unused' },
  { name: 'docs drift', script: 'check:docs' },
  { name: 'sizes', script: 'check:sizes' },
];

const lanes = 2;
const reportFile = join(tmpdir(), `groundcrew-verify-${process.pid}.json`);
/** The tests have the machine to themselves: some of them measure time. */
const tests: Check = {
  name: 'tests',
  script: 'test',
  args: ['--', '--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`],
};

const waiting = [...checks];
const results = await Promise.all(Array.from({ length: lanes }, runLane));
const testOutcome = await run(tests);
if (testOutcome.passed) console.log(vitestSummary(testOutcome.output));
console.log(testCounts());
const allPassed = [...results.flat(), testOutcome].every((outcome) => outcome.passed);
process.exitCode = allPassed ? 0 : 1;

async function runLane(): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let check = waiting.shift(); check; check = waiting.shift()) outcomes.push(await run(check));
  return outcomes;
}

async function run(check: Check): Promise<Outcome> {
  const began = performance.now();
  const outcome = await runScript(check);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${outcome.passed ? 'ok    ' : 'FAILED'} ${check.name.padEnd(16)} ${seconds.padStart(5)} s`);
  if (!outcome.passed) console.log(outcome.output.trimEnd());
  return outcome;
}

function runScript({ script, args = [] }: Check): Promise<Outcome> {
  const child = spawn('npm', ['run', '--silent', script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ passed: code === 0, output: Buffer.concat(chunks).toString() }));
  });
}

function vitestSummary(output: string): string {
  const lines = output.split('\n');
  const first = lines.findLastIndex((line) => line.includes('Test Files'));
  return lines.slice(first, first + 4).join('\n');
}

function testCounts(): string {
  try {
    const report: { readonly numPassedTests: number; readonly numFailedTests: number } = JSON.parse(
      readFileSync(reportFile, 'utf8'),
    );
    return `${report.numPassedTests} passed, ${report.numFailedTests} failed`;
  } catch (error) {
    return `the tests left no report: ${String(error)}`;
  } finally {
    rmSync(reportFile, { force: true });
  }
}
