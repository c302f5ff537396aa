import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtinTools, Shells, type Tool, type ToolContext, Workers } from '@groundcrew/runtime';
import { type Rule, RuleModel, workerEntry } from '@groundcrew/testkit';
import { BenchRuntime } from './client.js';
import { timed, typical } from './statistics.js';

/** Calls of the long turn, and how many of them make one figure. */
const manyCalls = 1000;
const stretch = 100;

/** What is looked for, as the tool and as ripgrep are asked. */
const searches = [
  ['names of few files', { pattern: 'wordzz word1j' }, ['-l']],
  ['names of all files', { pattern: 'worda' }, ['-l']],
  ['counts', { pattern: 'worda', output_mode: 'count' }, ['-c']],
  ['0.3 MB of lines', { pattern: 'word1jj word', output_mode: 'content', '-n': true }, ['-n']],
  ['2 MB of lines', { pattern: 'word1[a-f] ', output_mode: 'content', '-n': true }, ['-n']],
  ['70 MB of lines', { pattern: 'word', output_mode: 'content', '-n': true }, ['-n']],
] as const;

const root = mkdtempSync(join(tmpdir(), 'groundcrew-bench-'));
try {
  await benchBash();
  await benchSandbox();
  await benchGrep();
  await benchLongTurn();
} finally {
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
process.exit();

/** What `bash` costs beyond the process it starts. */
async function benchBash(): Promise<void> {
  const shells = new Shells(process.env);
  const context = contextIn(root, shells);
  const call = () => run(toolNamed('bash'), { command: 'true', description: 'Nothing' }, context);
  const bare = () => once(spawn('bash', ['-c', 'true'], { stdio: 'ignore' }), 'close');
  for (let i = 0; i < 10; i++) await call();
  const [bareTimes, callTimes] = await inTurns(60, bare, call);
  await shells.close();
  console.log(
    `bash of true: ${ms(callTimes)}, a bare spawn: ${ms(bareTimes)}, over it: ${(callTimes - bareTimes).toFixed(1)} ms`,
  );
}

/** What the sandbox adds to a command. */
async function benchSandbox(): Promise<void> {
  const shells = new Shells(process.env);
  const probe = await shells.sandbox.probe();
  if (probe.type === 'missing') {
    console.log(`bash in the sandbox: not measured, ${probe.reason}`);
    return;
  }
  const { kind } = probe.sandbox;
  const lists = { readOnly: [], hidden: [], frozen: [], runtimeHomes: [] };
  const flags = { isNarrow: false, hasNetwork: true, hasKeychain: false };
  const confinement = async () => ({ kind, writable: [root], ...lists, ...flags });
  const onHost = contextIn(root, shells);
  const confined = { ...contextIn(root, shells), confinement };
  const call = (context: ToolContext) => () =>
    run(toolNamed('bash'), { command: 'true', description: 'Nothing' }, context);
  for (let i = 0; i < 10; i++) await call(confined)();
  const [host, sandbox] = await inTurns(60, call(onHost), call(confined));
  await shells.close();
  console.log(
    `bash of true in ${kind}: ${ms(sandbox)}, on the host: ${ms(host)}, over it: ${(sandbox - host).toFixed(1)} ms`,
  );
}

/** What `grep` takes over a tree of 60 MB, in times of ripgrep itself with its output to a pipe. */
async function benchGrep(): Promise<void> {
  const tree = join(root, 'tree');
  plant(tree);
  const shells = new Shells({});
  const context = contextIn(tree, shells);
  for (const [name, input, flags] of searches) {
    const call = () => run(toolNamed('grep'), input, context);
    const bare = async () =>
      spawnSync(ripgrep(), ['--no-config', ...flags, input.pattern, '.'], { cwd: tree, maxBuffer: 2 ** 30 });
    await bare();
    const [bareTimes, callTimes] = await inTurns(9, bare, call);
    const times = (callTimes / bareTimes).toFixed(2);
    console.log(`grep, ${name}: ${ms(callTimes)}, ripgrep: ${ms(bareTimes)}, ${times} times`);
  }
}

/** Whether a call late in a long turn costs what an early one does. */
async function benchLongTurn(): Promise<void> {
  const processor: number[] = [];
  const memory: number[] = [];
  const rule = callUntil(() => {
    processor.push(runtime.processorTime);
    memory.push(runtime.memory);
  });
  const model = await RuleModel.open(rule);
  const runtime = new BenchRuntime(model, { root });
  await runtime.connect();
  const milliseconds = await timed(async () => runtime.turn(await runtime.create(), 'Go'));
  await runtime.stop();
  await model.close();
  const each = processor.slice(1).map((now, index) => (now - (processor[index] ?? 0)) / stretch);
  console.log(`${manyCalls} calls in one turn: ${(milliseconds / 1000).toFixed(1)} s`);
  console.log(`  ms of processor a call, by ${stretch}: ${each.map((one) => one.toFixed(1)).join(' ')}`);
  console.log(`  MB, by ${stretch}: ${memory.map((one) => one.toFixed(0)).join(' ')}`);
}

/** Asks for one call after the other. */
function callUntil(onStretch: () => void): Rule {
  let asked = 0;
  return () => {
    if (asked % stretch === 0) onStretch();
    asked += 1;
    if (asked > manyCalls) return { chunks: ['Done.'] };
    return { calls: [{ id: `call-${asked}`, name: 'echo', arguments: {} }] };
  };
}

function toolNamed(name: string): Tool {
  const tools = builtinTools({ webFetch: { allowedHosts: [] } })({
    reportsIntent: false,
    answersQuestions: false,
    answersPlans: false,
    mode: 'interactive',
  });
  const tool = tools.find((each) => each.name === name);
  if (!tool) throw new Error(`There is no tool ${name}`);
  return tool;
}

async function run(tool: Tool, input: object, context: ToolContext): Promise<unknown> {
  const prepared = await tool.prepare(input, context);
  if (prepared.type !== 'run') throw new Error(`${tool.name} does not run by itself`);
  return prepared.run(new AbortController().signal);
}

function contextIn(workingDirectory: string, shells: Shells): ToolContext {
  const sessionDirectory = join(root, 'session');
  return {
    workingDirectory,
    sessionDirectory,
    allowedDirectories: [workingDirectory],
    largeOutput: {
      isEnabled: true,
      maxBytes: 20 * 1024,
      directory: join(sessionDirectory, 'temp'),
      sessionDirectory,
    },
    shells: shells.forSession(),
    jobs: new Workers({ entry: workerEntry() }),
    sessionId: 'bench',
    toolCallId: 'bench',
    checkPlace: () => undefined,
    progress: () => undefined,
    notify: () => undefined,
  };
}

/** One after the other, so that both see the same moods of the machine. */
async function inTurns(
  times: number,
  one: () => Promise<unknown>,
  other: () => Promise<unknown>,
): Promise<readonly [number, number]> {
  const ones: number[] = [];
  const others: number[] = [];
  for (let i = 0; i < times; i++) {
    ones.push(await timed(one));
    others.push(await timed(other));
  }
  return [typical(ones), typical(others)];
}

/** 3,000 files of 20 KB in 60 directories, the same each time. */
function plant(tree: string): void {
  let seed = 1;
  const next = (most: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >>> 8) % most;
  };
  for (let directory = 0; directory < 60; directory++) {
    mkdirSync(join(tree, `d${directory}`), { recursive: true });
    for (let file = 0; file < 50; file++) {
      const lines: string[] = [];
      for (let size = 0; size < 20_480; size += lines.at(-1)?.length ?? 0)
        lines.push(`${Array.from({ length: 9 }, () => `word${next(2000).toString(36)}`).join(' ')} \n`);
      writeFileSync(join(tree, `d${directory}`, `f${file}.txt`), lines.join(''));
    }
  }
}

function ripgrep(): string {
  const entry = createRequire(import.meta.filename).resolve('@vscode/ripgrep');
  return createRequire(entry).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
