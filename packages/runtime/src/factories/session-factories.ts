import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { OneAtATime } from '../one-at-a-time.js';
import { ClientGone } from '../questions/asked-client.js';
import { type FactoryHost, type FactoryProvider, FactoryRefused } from './factory-host.js';
import { type FactoryLimits, type FactoryRun, type ProgressLine, RunFiles, workedMs } from './run-files.js';

interface LiveRun {
  readonly token: string;
  readonly provider: FactoryProvider;
  readonly abort: AbortController;
  agents: number;
  /** How it ended is being written: the first end counts. */
  isEnding: boolean;
}

/** What a body may write of its progress in one run, and remember in steps. */
const mostLines = 10_000;
const mostSpawned = 1000;
const largestJournal = 4 * 1024 * 1024;

/** Factories: bodies that a client runs for the session, with a journal that survives both. */
export class SessionFactories {
  private readonly live = new Map<string, LiveRun>();
  private readonly files: RunFiles;
  private readonly writing = new OneAtATime();

  constructor(private readonly session: FactoryHost) {
    this.files = new RunFiles(join(session.workspacePath, 'factories'));
  }

  /** Begins a run; it is stored before its body starts. Throws FactoryRefused. */
  async run(name: string, args: unknown, limits: FactoryLimits = {}): Promise<FactoryRun> {
    const provider = this.providerOf(name);
    const now = Date.now();
    const {
      description = '',
      isWorkflow,
      phases,
    } = provider.factories.find((factory) => factory.name === name) ?? {};
    const run: FactoryRun = {
      runId: randomUUID(),
      factoryName: name,
      description,
      args: args ?? null,
      status: 'running',
      attempt: 1,
      revision: 1,
      createdAt: now,
      startedAt: now,
      updatedAt: now,
      agents: 0,
      limits,
      journal: {},
      progress: [],
      ...(isWorkflow && { isWorkflow }),
      ...(phases && { phases }),
    };
    return this.begin(run, provider);
  }

  /** Goes on with a run that ended early; steps in its journal are not repeated. Throws FactoryRefused. */
  async resume(runId: string, limits?: FactoryLimits): Promise<FactoryRun> {
    const run = await this.find(runId);
    if (!run) throw new FactoryRefused(`Factory run ${runId} was not found`, 'not_found');
    if (run.status === 'completed' || run.status === 'running')
      throw new FactoryRefused(
        `Factory run ${runId} is ${run.status} and cannot be resumed`,
        'non_resumable',
      );
    const { result: _, error: __, completedAt: ___, pause: ____, ...kept } = run;
    const now = Date.now();
    const again: FactoryRun = {
      ...kept,
      status: 'running',
      attempt: run.attempt + 1,
      revision: run.revision + 1,
      startedAt: now,
      updatedAt: now,
      limits: { ...run.limits, ...limits },
      workedMs: workedMs(run, now),
    };
    return this.begin(again, this.providerOf(run.factoryName));
  }

  /** One that ran when its process ended is halted. */
  async find(runId: string): Promise<FactoryRun | undefined> {
    const run = await this.files.read(runId);
    return run && this.seen(run);
  }

  async list(): Promise<readonly FactoryRun[]> {
    return (await this.files.all()).map((run) => this.seen(run));
  }

  async cancel(runId: string): Promise<FactoryRun> {
    const run = await this.find(runId);
    if (!run) throw new FactoryRefused(`Factory run ${runId} was not found`, 'not_found');
    const live = this.live.get(runId);
    if (!live) return run;
    const ended = await this.end(runId, live, { status: 'cancelled' });
    await this.abort(run, live, 'The run was cancelled');
    return ended;
  }

  /** Stops the attempt; the run can go on from its journal. Throws FactoryRefused. */
  async pause(runId: string): Promise<FactoryRun> {
    const run = await this.find(runId);
    if (!run) throw new FactoryRefused(`Factory run ${runId} was not found`, 'not_found');
    const live = this.live.get(runId);
    if (!live)
      throw new FactoryRefused(`The run ${runId} is ${run.status}: only one that runs can be paused`);
    const paused = await this.end(runId, live, { status: 'paused', pause: { type: 'user' } });
    await this.abort(run, live, 'The run was paused');
    return paused;
  }

  /** A body may pause here: the first time it does, and when the run goes on it passes. Throws FactoryRefused. */
  async checkpoint(runId: string, token: string, key: string): Promise<'continue' | 'pause'> {
    const live = this.require(runId, token);
    const step = `checkpoint:${key}`;
    if (await this.recalled(runId, token, step)) return 'continue';
    await this.remember(runId, token, { key: step, value: true });
    const run = await this.end(runId, live, { status: 'paused', pause: { type: 'checkpoint', key } });
    // Its body waits for this once it has the answer.
    setImmediate(() => void this.abort(run, live, 'The run paused at a checkpoint'));
    return 'pause';
  }

  /** How many sub-agents work for a run now. */
  liveAgents(runId: string): number {
    return this.live.get(runId)?.agents ?? 0;
  }

  /** How long all attempts of a run took together. */
  workedMs(run: FactoryRun, now: number): number {
    return workedMs(run, now);
  }

  private async abort({ runId, isWorkflow }: FactoryRun, live: LiveRun, reason: string): Promise<void> {
    const { sessionId } = this.session;
    const signal = AbortSignal.timeout(10_000);
    live.abort.abort(new FactoryRefused(reason));
    const asked = isWorkflow
      ? live.provider.ask('workflow.abort', { sessionId, runId, executionToken: live.token }, signal)
      : live.provider.ask('factory.abort', { sessionId, runId }, signal);
    await asked.catch(() => undefined);
  }

  /** Lines of a body's progress. Throws FactoryRefused. */
  async log(
    runId: string,
    token: string,
    lines: readonly Pick<ProgressLine, 'kind' | 'text'>[],
  ): Promise<void> {
    this.require(runId, token);
    await this.change(runId, (run) => {
      const first = (run.progress.at(-1)?.seq ?? 0) + 1;
      const added = lines.map(({ kind, text }, index) => ({
        seq: first + index,
        attempt: run.attempt,
        recordedAt: Date.now(),
        kind,
        text: text.slice(0, 4096),
      }));
      return { ...run, progress: [...run.progress, ...added].slice(-mostLines) };
    });
  }

  /** What a step yielded, if it was done. Throws FactoryRefused. */
  async recalled(
    runId: string,
    token: string,
    key: string,
  ): Promise<{ readonly value: unknown } | undefined> {
    this.require(runId, token);
    const { journal } = (await this.files.read(runId)) ?? missing(runId);
    return Object.hasOwn(journal, key) ? { value: journal[key] } : undefined;
  }

  /** Remembers what a step yielded; it is on the disk when this resolves. Throws FactoryRefused. */
  async remember(
    runId: string,
    token: string,
    step: { readonly key: string; readonly value: unknown },
  ): Promise<void> {
    this.require(runId, token);
    await this.change(runId, (run) => {
      const journal = { ...run.journal, [step.key]: step.value };
      if (JSON.stringify(journal).length > largestJournal)
        throw new FactoryRefused(`The journal of a run has at most ${largestJournal} characters.`);
      return { ...run, journal };
    });
  }

  /** Runs a sub-agent for a factory's body and waits for its answer. Throws FactoryRefused. */
  async agent(
    runId: string,
    token: string,
    wish: {
      readonly prompt: string;
      readonly agentType: string;
      readonly name: string;
      readonly model?: string;
    },
  ): Promise<string> {
    const live = this.require(runId, token);
    const { limits, agents } = (await this.files.read(runId)) ?? missing(runId);
    const { maxTotalSubagents = Infinity, maxConcurrentSubagents = Infinity } = limits;
    if (agents >= maxTotalSubagents)
      throw new FactoryRefused(`The run has started ${agents} sub-agents, as many as it may.`);
    if (live.agents >= maxConcurrentSubagents)
      throw new FactoryRefused(`${live.agents} sub-agents of the run work already, as many as may at once.`);
    live.agents += 1;
    try {
      await this.change(runId, (run) => ({ ...run, agents: run.agents + 1 }));
      const { name, prompt, agentType, model } = wish;
      const description = `Sub-agent of a factory: ${name}`;
      const id = await this.session.agents.start({
        agentType,
        prompt,
        name,
        description,
        ...(model && { model }),
      });
      await this.change(runId, (run) => {
        const phase = run.progress.findLast((line) => line.kind === 'phase')?.text;
        const spawned = { agentId: id, label: name, ...(phase && { phase }), ...(model && { model }) };
        return { ...run, spawned: [...(run.spawned ?? []), spawned].slice(-mostSpawned) };
      });
      return await this.answerOf(id, live.abort.signal);
    } finally {
      live.agents -= 1;
    }
  }

  private async answerOf(agentId: string, signal: AbortSignal): Promise<string> {
    for (;;) {
      const task = await this.session.agents.task(agentId);
      if (!task || task.status === 'failed' || task.status === 'cancelled')
        throw new FactoryRefused(task?.error ?? `The sub-agent ${agentId} has not ended well`);
      if (task.status !== 'running') return task.result ?? '';
      await this.session.agents.changed(signal);
    }
  }

  private async begin(run: FactoryRun, provider: FactoryProvider): Promise<FactoryRun> {
    const live: LiveRun = {
      token: randomUUID(),
      provider,
      abort: new AbortController(),
      agents: 0,
      isEnding: false,
    };
    this.live.set(run.runId, live);
    try {
      await this.files.write(run);
    } catch (error) {
      this.live.delete(run.runId);
      throw error;
    }
    const { runId, attempt, factoryName, isWorkflow } = run;
    await this.session.emit(
      isWorkflow
        ? { type: 'workflow.run_started', data: { attempt, workflowName: factoryName, runId } }
        : { type: 'factory.run_started', data: { attempt, factoryName, runId } },
    );
    // Its end is written to the run's file; one that cannot be written leaves the run halted.
    void this.execute(run, live).catch(() => this.live.delete(runId));
    return run;
  }

  private async execute(run: FactoryRun, live: LiveRun): Promise<void> {
    const { runId, factoryName, args, limits, isWorkflow } = run;
    const { sessionId } = this.session;
    const { timeoutSeconds } = limits;
    const timeout = timeoutSeconds === undefined ? [] : [AbortSignal.timeout(timeoutSeconds * 1000)];
    const signal = AbortSignal.any([live.abort.signal, ...timeout]);
    const params = { sessionId, name: factoryName, runId, executionToken: live.token, args };
    try {
      const callback = isWorkflow ? 'workflow.execute' : 'factory.execute';
      const { result } = await live.provider.ask(callback, params, signal);
      await this.end(runId, live, { status: 'completed', ...(result !== undefined && { result }) });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isHalted = error instanceof ClientGone || (signal.aborted && !live.abort.signal.aborted);
      await this.end(runId, live, { status: isHalted ? 'halted' : 'error', error: reason });
    }
  }

  /** The first end counts. */
  private async end(
    runId: string,
    live: LiveRun,
    outcome: Pick<FactoryRun, 'status' | 'result' | 'error' | 'pause'>,
  ): Promise<FactoryRun> {
    if (live.isEnding) return (await this.files.read(runId)) ?? missing(runId);
    live.isEnding = true;
    try {
      return await this.change(runId, (run) => ({ ...run, ...outcome, completedAt: Date.now() }));
    } finally {
      this.live.delete(runId);
    }
  }

  /** One change after the other; clients are sent that there is something new. */
  private async change(runId: string, change: (run: FactoryRun) => FactoryRun): Promise<FactoryRun> {
    const changed = await this.writing.run(runId, async () => {
      const run = (await this.files.read(runId)) ?? missing(runId);
      const next = { ...change(run), revision: run.revision + 1, updatedAt: Date.now() };
      await this.files.write(next);
      return next;
    });
    const { revision, isWorkflow } = changed;
    const type = isWorkflow ? 'workflow.run_updated' : 'factory.run_updated';
    await this.session.emit({ type, data: { revision, runId } });
    return changed;
  }

  private seen(run: FactoryRun): FactoryRun {
    if (run.status !== 'running' || this.live.has(run.runId)) return run;
    return { ...run, status: 'halted', error: 'The process of the run has ended' };
  }

  private require(runId: string, token: string): LiveRun {
    const live = this.live.get(runId);
    if (!live || live.isEnding || live.token !== token)
      throw new FactoryRefused(`Factory run ${runId} is not running`);
    return live;
  }

  private providerOf(name: string): FactoryProvider {
    const providers = this.session.audience.factoryProviders();
    const provider = providers.find(({ factories }) => factories.some((factory) => factory.name === name));
    if (provider) return provider;
    const known = providers.flatMap(({ factories }) => factories.map((factory) => factory.name));
    throw new FactoryRefused(
      `No factory "${name}" is registered. Registered: [${known.join(', ')}].`,
      'not_found',
    );
  }
}

function missing(runId: string): never {
  throw new FactoryRefused(`Factory run ${runId} was not found`, 'not_found');
}
