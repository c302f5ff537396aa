import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
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

/** What is read of vitest's report. */
interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** The slowest come first, so that two lanes end at about the same time. */
const checks: readonly Check[] = [
  { name: 'types', script: 'check:types' },
  // What apps install, for the tests that use it as they do.
  { name: 'build', script: 'build' },
  { name: 'format and lint', script: 'check:format' },
  { name: 'arrows', script: 'check:arrows' },
  { name: 'unused', script: 'check:unused' },
  { name: 'docs drift', script: 'check:docs' },
  { name: 'sizes', script: 'check:sizes' },
];

const lanes = 2;
const reportFile = join(tmpdir(), `groundcrew-verify-${process.pid}.json`);
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];

const waiting = [...checks];
const results = await Promise.all(Array.from({ length: lanes }, runLane));
const allPassed = [...results.flat(), await runTests()].every((outcome) => outcome.passed);
process.exitCode = allPassed ? 0 : 1;

/**
 * The tests have the machine to themselves: some of them measure time.
 *
 * A file that fails runs once more on its own, because a busy machine breaks a bound on time but not a rule. It is
 * named in either case, so that a test which passes only alone is seen and mended (docs/decisions/0033).
 */
async function runTests(): Promise<Outcome> {
  const first = await run({ name: 'tests', script: 'test', args: ['--', ...reporters] }, failedTests);
  console.log('Tests that start PostgreSQL or NATS are not among them: npm run verify:full runs them');
  const report = takeReport();
  console.log(testCounts(report));
  const failedFiles =
    report?.testResults.filter((file) => file.status === 'failed').map((file) => file.name) ?? [];
  if (first.passed || failedFiles.length === 0) return first;

  const args = ['--', '--maxWorkers=1', ...reporters, ...failedFiles];
  const again = await run({ name: 'tests again', script: 'test', args }, failedTests);
  console.log(
    `${testCounts(takeReport())}, when only these files ran: ${failedFiles.map(fromHere).join(', ')}`,
  );
  return again;
}

async function runLane(): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let check = waiting.shift(); check; check = waiting.shift()) outcomes.push(await run(check));
  return outcomes;
}

async function run(check: Check, explain = (output: string) => output): Promise<Outcome> {
  const began = performance.now();
  const outcome = await runScript(check);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${outcome.passed ? 'ok    ' : 'FAILED'} ${check.name.padEnd(16)} ${seconds.padStart(5)} s`);
  if (!outcome.passed) console.log(explain(outcome.output).trimEnd());
  return outcome;
}

function runScript({ script, args = [] }: Check): Promise<Outcome> {
  const child = spawn('npm', ['run', '--silent', script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, SERVICE_TESTS: 'apart' },
  });
  const chunks: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ passed: code === 0, output: Buffer.concat(chunks).toString() }));
  });
}

/** The failures alone, in few words: thousands of lines of passing tests would bury them. */
function failedTests(output: string): string {
  const lines = (readReport()?.testResults ?? []).flatMap((file) => {
    const failed = file.assertionResults.filter((test) => test.status === 'failed');
    if (file.status !== 'failed') return [];
    if (failed.length === 0) return [`  ${fromHere(file.name)}: ${shortened(file.message)}`];
    return failed.map(
      (test) => `  ${fromHere(file.name)} > ${test.fullName}: ${shortened(test.failureMessages.join())}`,
    );
  });
  return lines.length > 0 ? lines.join('\n') : withoutPassed(output);
}

/** For what is no test's fault alone, such as an uncaught error: vitest prints it at the end. */
function withoutPassed(output: string): string {
  return output
    .split('\n')
    .filter((line) => !line.includes('✓'))
    .slice(-80)
    .join('\n');
}

function shortened(message: string): string {
  return message.trim().split('\n').slice(0, 12).join('\n      ').slice(0, 1200);
}

function fromHere(file: string): string {
  return relative(process.cwd(), file);
}

function testCounts(report: TestReport | undefined): string {
  if (!report) return 'the tests left no report';
  return `${report.numPassedTests} passed, ${report.numFailedTests} failed`;
}

function takeReport(): TestReport | undefined {
  const report = readReport();
  rmSync(reportFile, { force: true });
  return report;
}

function readReport(): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8'));
  } catch {
    return undefined;
  }
}
