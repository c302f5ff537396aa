import { StoreError } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import { Interruption } from '../interruption.js';
import { AgentLog } from '../log/agent-log.js';
import type { AgentCaps, AgentDefinition, AgentTask } from '../log/agent-task.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import type { AgentState } from '../log/state.js';
import { CapReached } from '../model-call/allowance.js';
import type { Waits } from '../questions/waits.js';
import type { TraceContext } from '../settings/session-settings.js';
import type { AgentContext } from '../turn/context.js';
import { deliver } from '../turn/deliver.js';
import { Interaction } from '../turn/interaction.js';
import type { PlannedAgent } from '../turn/planned-agent.js';
import type { Planner } from '../turn/planner.js';
import { runUntilAnswered } from '../turn/turn.js';
import type { SeatContexts } from './agent-seat.js';
import { capsFor, spentBy } from './caps.js';
import { errorData } from './failure.js';
import { continueTurn } from './recover.js';
import type { Slots } from './slots.js';
import { cancellation } from './turn-outcome.js';

/** What users and apps say of sub-agents. */
export interface SubAgentSettings {
  readonly maxDepth: number;
  readonly maxConcurrency: number;
  /** By the name of an agent. */
  readonly agents: Readonly<
    Record<string, { readonly model?: string; readonly reasoningEffort?: string; readonly caps?: AgentCaps }>
  >;
  /** Agents that others may not begin. */
  readonly disabled: readonly string[];
  /** For each agent that has none of its own. */
  readonly caps?: AgentCaps;
  /** For all agents below one of the root's, that one included. */
  readonly treeCaps?: AgentCaps;
}

/** What the session gives its sub-agents. */
export interface SubAgentHost {
  readonly planner: Planner;
  readonly contexts: SeatContexts;
  settings(): SubAgentSettings;
  /** The texts of skills that an agent has from the start. */
  skillsOf(agent: AgentDefinition): Promise<readonly string[]>;
  trace(): TraceContext;
}

interface Surroundings extends SubAgentHost {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly waits: Waits;
  readonly slots: Slots;
  readonly siblings: {
    noticesFor(agentId: string): readonly Draft[];
    hasChildren(agentId: string): boolean;
    change(signal: AbortSignal): Promise<void>;
    interactionOf(agentId: string | undefined): Interaction | undefined;
  };
}

/** The tools that begin and lead agents; those at the greatest depth have none of them. */
const agentToolNames = ['task', 'read_agent', 'write_agent', 'list_agents', 'stop_agent'] as const;

/** One sub-agent at work: the same loop as the root's, on its own part of the log. */
export class SubAgentRun {
  interaction: Interaction | undefined;
  readonly done: Promise<void>;
  /** Resolves when its call need not wait any longer. */
  readonly promoted: Promise<void>;
  promote: () => void = () => undefined;
  private finish: () => void = () => undefined;
  private readonly controller = new AbortController();
  private release: () => void = () => undefined;
  private readonly agentLog: AgentLog;

  constructor(
    private readonly task: AgentTask,
    private readonly parts: Surroundings,
  ) {
    this.agentLog = new AgentLog(parts.log, task.agentId, task.toolCallId);
    this.promoted = new Promise((resolve) => {
      this.promote = resolve;
    });
    this.done = new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  /** Ends it as an abort, a suspension or a close would. */
  stop(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Works until it has nothing more to do. Rejects only when nothing can be written. */
  async start(): Promise<void> {
    const { parts } = this;
    const seconds = this.caps().maxSeconds;
    const left = seconds === undefined ? undefined : this.millisecondsLeft(seconds);
    const timer =
      left === undefined
        ? undefined
        : setTimeout(
            () => this.stop(new CapReached(`The agent has worked for ${seconds} seconds`)),
            Math.max(0, left),
          );
    try {
      await this.seat(this.controller.signal);
      await parts.waits.during(this.wait({ isQueued: false }), this.work());
      await this.end({ status: 'completed' });
    } catch (error) {
      await this.fail(error);
    } finally {
      clearTimeout(timer);
      this.release();
      this.finish();
    }
  }

  /** Closes an agent that nobody goes on with. */
  static close(task: AgentTask, { log, clock }: { log: SessionLog; clock: Clock }, error: string): void {
    const agentLog = new AgentLog(log, task.agentId, task.toolCallId);
    agentLog.append(...closingDrafts(agentLog.latest, error), {
      type: 'subagent.failed',
      data: { toolCallId: task.toolCallId, ...namesOf(task), error },
    });
    const data = { agentId: task.agentId, status: 'failed', error, completedAt: clock.timestamp() } as const;
    log.append({ note: 'agent.changed', data: { ...data, isNotified: true } });
  }

  private async work(): Promise<void> {
    const { task, parts } = this;
    const { signal } = this.controller;
    const skills = await parts.skillsOf(task.agent);
    const contexts = parts.contexts({
      log: this.agentLog,
      planner: parts.planner.forSubAgent(this.planned(skills), () => parts.log.state),
      inbox: {
        takeSteering: async () => [],
        putBack: () => undefined,
        takeNotices: () => parts.siblings.noticesFor(task.agentId),
      },
      caps: () => this.capsNow(),
    });
    const { turn, history } = this.agentLog.latest;
    if (history.length === 0) await this.begin(contexts, signal);
    else if (turn) {
      const context = this.contextOf(contexts, turn);
      if ((await continueTurn(context, signal)) === 'results wait') await runUntilAnswered(context, signal);
    } else if (history.at(-1)?.role !== 'assistant') await runUntilAnswered(this.contextOf(contexts), signal);
    while (await this.next(contexts, signal));
  }

  /** A message, news of agents of its own, or the end of one: true when there may be more. */
  private async next(
    contexts: (interaction: Interaction) => AgentContext,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { task, parts } = this;
    const [message] = parts.log.latest.tasks[task.agentId]?.messages ?? [];
    if (message) {
      const context = this.contextOf(contexts);
      const prompt = { ...message, mode: 'enqueue' as const, source: this.source() };
      await deliver(prompt, { delivery: 'queued', signal }, context);
      await runUntilAnswered(context, signal);
      return true;
    }
    if (parts.siblings.noticesFor(task.agentId).length > 0) {
      await runUntilAnswered(this.contextOf(contexts), signal);
      return true;
    }
    if (!parts.siblings.hasChildren(task.agentId)) return false;
    // It takes no place while it waits for its own, which may need one.
    this.release();
    await parts.siblings.change(signal);
    await this.seat(signal);
    return true;
  }

  private async begin(
    contexts: (interaction: Interaction) => AgentContext,
    signal: AbortSignal,
  ): Promise<void> {
    const { task } = this;
    const context = this.contextOf(contexts);
    const model = context.planner.model();
    const { description: agentDescription, name: agentType } = task.agent;
    this.agentLog.append({
      type: 'subagent.started',
      data: {
        toolCallId: task.toolCallId,
        ...namesOf(task),
        agentDescription,
        model,
        ...{ agentType, executionMode: task.mode, resumable: false, depth: task.depth },
      },
    });
    await context.hooks.run('subagentStart', { ...hookInput(task), transcriptPath: '' }, signal);
    await context.planner.ready(signal);
    const prompt = {
      messageId: task.agentId,
      text: task.prompt,
      mode: 'enqueue' as const,
      source: this.source(),
    };
    await deliver(prompt, { delivery: 'idle', signal }, context);
    await runUntilAnswered(context, signal);
  }

  /** Waits until there is a place; a sync agent of another agent works in the place of its parent, which waits for it. */
  private async seat(signal: AbortSignal): Promise<void> {
    const { task, parts } = this;
    if (task.parentAgentId !== undefined && task.mode === 'sync') return;
    const taken = parts.slots.take(signal);
    this.release = await (parts.slots.isFull
      ? parts.waits.during(this.wait({ isQueued: true }), taken)
      : taken);
  }

  private wait({ isQueued }: { readonly isQueued: boolean }) {
    const { agentId, agent } = this.task;
    return { kind: 'agent', agentId, agentName: agent.name, isQueued } as const;
  }

  private contextOf(
    contexts: (interaction: Interaction) => AgentContext,
    turn?: { readonly turnId: string; readonly interactionId: string },
  ): AgentContext {
    const { task, parts } = this;
    const parent = task.mode === 'sync' ? parts.siblings.interactionOf(task.parentAgentId) : undefined;
    const requestHeaders = parent?.options.requestHeaders;
    const interaction = new Interaction(turn?.interactionId ?? parts.clock.newId(), {
      trace: parent?.options.trace ?? parts.trace(),
      ...(requestHeaders && { requestHeaders }),
    });
    if (turn) interaction.rounds = Number(turn.turnId) + 1;
    this.interaction = interaction;
    return contexts(interaction);
  }

  private planned(skills: readonly string[]): PlannedAgent {
    const { task, parts } = this;
    const { agents, maxDepth } = parts.settings();
    const wish = agents[task.agent.name];
    const model = task.model ?? wish?.model;
    return {
      agent: task.agent,
      skills,
      withheld: task.depth >= maxDepth ? agentToolNames : [],
      ...(model !== undefined && { model }),
      ...(wish?.reasoningEffort !== undefined && { reasoningEffort: wish.reasoningEffort }),
    };
  }

  private caps(): AgentCaps {
    const { agents, caps } = this.parts.settings();
    return { ...caps, ...this.task.agent.caps, ...agents[this.task.agent.name]?.caps };
  }

  private capsNow() {
    const { treeCaps: tree } = this.parts.settings();
    const own = this.caps();
    const isCapped = Object.keys(own).some((name) => name !== 'maxSeconds');
    return capsFor(this.task, this.parts.log.latest, { own: isCapped ? own : undefined, tree });
  }

  private millisecondsLeft(seconds: number): number {
    const { clock } = this.parts;
    return Date.parse(this.task.startedAt) + seconds * 1000 - clock.now().getTime();
  }

  private source(): string {
    return `agent-${this.task.parentAgentId ?? this.parts.log.sessionId}`;
  }

  private async fail(error: unknown): Promise<void> {
    const { signal } = this.controller;
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (error instanceof StoreError || reason instanceof StoreError) throw error;
    if (reason instanceof CapReached)
      return this.end({
        status: 'completed',
        remark: `The agent was ended before it was done: ${reason.message}.`,
      });
    if (reason instanceof Interruption) {
      // What is closed is left as it is, for another process to go on with.
      if (reason.kind === 'close') return;
      return this.end({ status: 'cancelled' });
    }
    return this.end({ status: 'failed', error: errorData(reason).message });
  }

  /** Writes how it ended, with what it had. */
  private async end(how: {
    readonly status: 'completed' | 'failed' | 'cancelled';
    readonly remark?: string;
    readonly error?: string;
  }): Promise<void> {
    const { task, parts, agentLog } = this;
    const { log, clock } = parts;
    const { status, remark, error } = how;
    agentLog.append(...closingDrafts(agentLog.latest, 'The agent was ended'));
    const text = lastText(agentLog.latest);
    const result =
      remark === undefined ? text : [text, `(${remark})`].filter((part) => part !== '').join('\n\n');
    const completedAt = clock.timestamp();
    const totals = this.totals(completedAt);
    agentLog.append(
      status === 'failed'
        ? { type: 'subagent.failed', data: { ...totals, error: error ?? '' } }
        : {
            type: 'subagent.completed',
            data: { ...totals, ...(status === 'cancelled' && { cancelled: true }) },
          },
    );
    const change = { status, completedAt, result, ...(error !== undefined && { error }) };
    log.append({ note: 'agent.changed', data: { agentId: task.agentId, ...change } });
    await log.stored();
    await this.runStopHook(status, result);
  }

  private async runStopHook(stopReason: string, response: string): Promise<void> {
    const { parts, agentLog } = this;
    const planner = parts.planner.forSubAgent(this.planned([]), () => parts.log.state);
    const inbox = { takeSteering: async () => [], putBack: () => undefined };
    const { hooks } = parts.contexts({ log: agentLog, planner, inbox })(
      new Interaction(parts.clock.newId(), { trace: {} }),
    );
    const input = { ...hookInput(this.task), transcriptPath: '', stopReason, response };
    // The agent is over: nothing stops what comes after it but time.
    await hooks.run('subagentStop', input, new AbortController().signal).catch(() => []);
  }

  private totals(completedAt: string) {
    const { task, parts, agentLog } = this;
    const { history } = agentLog.latest;
    const calls = history.flatMap((entry) => (entry.role === 'assistant' ? entry.toolCalls : []));
    const [model] = Object.keys(agentLog.latest.spending.byModel);
    return {
      toolCallId: task.toolCallId,
      ...namesOf(task),
      ...(model !== undefined && { model }),
      totalToolCalls: calls.length,
      totalTokens: spentBy([task.agentId], parts.log.latest).tokens,
      durationMs: Math.max(0, Date.parse(completedAt) - Date.parse(task.startedAt)),
    };
  }
}

function namesOf({ agent }: AgentTask) {
  return { agentName: agent.name, agentDisplayName: agent.displayName };
}

function hookInput({ agent, agentId }: AgentTask) {
  return { agentName: agent.name, agentDisplayName: agent.displayName, agentType: agent.name, agentId };
}

/** What closes a turn that is open: its calls and questions, and the turn. */
function closingDrafts({ turn, calls, questions }: AgentState, reason: string): Draft[] {
  return [
    ...questions.map((question) => cancellation(question, reason)),
    ...calls.map(({ toolCallId }): Draft => ({ note: 'call.interrupted', data: { toolCallId } })),
    ...(turn ? [{ type: 'assistant.turn_end' as const, data: { turnId: turn.turnId } }] : []),
  ];
}

/** The last thing that an agent said. */
export function lastText({ history }: AgentState): string {
  const said = history.findLast((entry) => entry.role === 'assistant' && entry.text !== '');
  return said?.role === 'assistant' ? said.text : '';
}
