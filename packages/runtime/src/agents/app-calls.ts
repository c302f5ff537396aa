import type { EventData, JsonObject } from '@groundcrew/protocol';
import { StoreError } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import type { CallToRun } from '../gate/call.js';
import { interruptedText } from '../gate/failed-result.js';
import { AgentLog } from '../log/agent-log.js';
import { appAgentId } from '../log/app-calls.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import { agentOf } from '../log/state.js';
import type { TraceContext } from '../settings/session-settings.js';
import type { ResultType } from '../tools/tool.js';
import type { AgentPlanner, SteeringInbox } from '../turn/agent-context.js';
import { excessIn } from '../turn/argument-bounds.js';
import { Interaction } from '../turn/interaction.js';
import { gateTurn } from '../turn/turn.js';
import type { MakeAgentContexts } from './agent-contexts.js';
import { cancellation } from './question-cancellation.js';

/** A call that an app makes itself. */
export interface AppCall {
  readonly name: string;
  readonly arguments: unknown;
  /** Made here where the app chose none. */
  readonly toolCallId?: string | undefined;
}

/** What a call came to, as the log has it. */
export interface AppCallResult {
  readonly type: ResultType;
  readonly text: string;
  readonly output: EventData<'tool.execution_complete'>['result'];
  readonly error?: string | undefined;
  readonly telemetry: JsonObject;
}

/** The app's call cannot be taken. */
class AppCallRefused extends Error {
  override readonly name = 'AppCallRefused';
}

interface AppCallParts {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly planner: AgentPlanner;
  readonly contexts: MakeAgentContexts;
  trace(): TraceContext;
}

/**
 * Runs tools for apps, through the gate that the model's calls pass: hooks, rules, questions, intent and receipt are the same.
 * The log keeps them apart from turns: they neither join a turn nor end with one, and no model reads of them.
 */
export class AppCalls {
  private readonly running = new Map<string, AbortController>();
  private ended: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: AppCallParts) {}

  get isBusy(): boolean {
    return this.running.size > 0;
  }

  /** Runs a call to its end; the result is stored when it resolves. Throws AppCallRefused. */
  async run({ name, arguments: given, toolCallId }: AppCall, signal: AbortSignal): Promise<AppCallResult> {
    const excess = excessIn(JSON.stringify(given ?? {}));
    if (excess !== undefined) throw new AppCallRefused(`The arguments are not taken: ${excess}`);
    const id = toolCallId ?? this.parts.clock.newId();
    this.requireRoom(id);
    const stop = new AbortController();
    this.running.set(id, stop);
    const call = { toolCallId: id, name, arguments: given ?? {}, argumentsText: '' };
    const work = this.pass(call, AbortSignal.any([signal, stop.signal])).finally(() =>
      this.running.delete(id),
    );
    this.ended = Promise.allSettled([this.ended, work]);
    return work;
  }

  /** Ends all that run; resolves when the log says so. */
  async stopAll(reason: Error): Promise<void> {
    for (const stop of this.running.values()) stop.abort(reason);
    await this.ended;
  }

  /** Closes calls that a process before this one had left: who made them has gone with its connection. */
  closeLeft(): void {
    const { log } = this.parts;
    for (const { toolCallId } of agentOf(log.latest, appAgentId).calls)
      if (!this.running.has(toolCallId)) this.close(toolCallId, { log: appLog(log), model: '' });
  }

  private requireRoom(toolCallId: string): void {
    const { latest } = this.parts.log;
    const isTaken = Object.values(latest.agents).some(({ calls }) =>
      calls.some((call) => call.toolCallId === toolCallId),
    );
    if (isTaken || this.running.has(toolCallId))
      throw new AppCallRefused(`A call with the id ${toolCallId} is under way; choose another toolCallId`);
    if (this.running.size >= mostAtOnce)
      throw new AppCallRefused(
        `${mostAtOnce} calls of apps are under way in this session; wait until one has ended`,
      );
  }

  private async pass(call: CallToRun, signal: AbortSignal): Promise<AppCallResult> {
    const { planner, contexts, clock, trace } = this.parts;
    await planner.ready(signal);
    const plan = planner.plan();
    requireOwnWork(call.name, plan.toolset.find(call.name)?.source);
    const log = new AppCallLog(this.parts.log, call.toolCallId);
    const interaction = new Interaction(clock.newId(), { trace: trace() });
    const context = contexts({ log, planner, inbox: noSteering }).of(interaction);
    const turn = gateTurn(context, plan);
    try {
      log.append(...(await context.gate.startOf(call, turn)));
      await context.gate.run(call, turn, signal);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      this.close(call.toolCallId, { log, model: plan.model });
    }
    await log.published();
    return log.result();
  }

  /** A call that was stopped gets its receipt all the same; what it asked users is asked no longer. */
  private close(
    toolCallId: string,
    { log, model }: { readonly log: AgentLog; readonly model: string },
  ): void {
    const open = log.latest.questions.filter((question) => question.toolCallId === toolCallId);
    const data = {
      toolCallId,
      success: false,
      ...(model !== '' && { model }),
      error: { message: interruptedText, code: 'failure' },
    };
    log.append(...open.map((question) => cancellation(question, 'The call was stopped')), {
      type: 'tool.execution_complete',
      data,
    });
  }
}

/** Calls of apps that one session runs side by side. */
const mostAtOnce = 32;

/** Tools that work on an agent's own conversation: an app has methods for the same. */
const conversational: ReadonlySet<string> = new Set([
  'task',
  'read_agent',
  'write_agent',
  'list_agents',
  'stop_agent',
  'exit_plan_mode',
  'task_complete',
  'report_intent',
]);

function requireOwnWork(name: string, source: string | undefined): void {
  if (source === 'builtin' && conversational.has(name))
    throw new AppCallRefused(
      `The tool ${name} works on the conversation of the agent that calls it: an app uses the methods of session.tasks, session.agent and session.mode`,
    );
}

/** No prompt joins what an app does. */
const noSteering: SteeringInbox = { takeSteering: async () => [], putBack: () => undefined };

function appLog(log: SessionLog): AgentLog {
  return new AgentLog(log, appAgentId);
}

/** The log of one call: keeps what it came to. */
class AppCallLog extends AgentLog {
  private receipt: EventData<'tool.execution_complete'> | undefined;
  private verbatim: string | undefined;

  constructor(
    log: SessionLog,
    private readonly toolCallId: string,
  ) {
    super(log, appAgentId);
  }

  override append(...drafts: readonly Draft[]): ReturnType<AgentLog['append']> {
    for (const draft of drafts) this.keep(draft);
    return super.append(...drafts);
  }

  result(): AppCallResult {
    const { receipt, verbatim } = this;
    if (!receipt) throw new Error(`The call ${this.toolCallId} has no receipt`);
    const { success, result, error, toolTelemetry } = receipt;
    return {
      type: success ? 'success' : ((error?.code ?? 'failure') as ResultType),
      text: verbatim ?? result?.content ?? error?.message ?? '',
      output: result,
      telemetry: (toolTelemetry ?? {}) as JsonObject,
      ...(error && { error: error.message }),
    };
  }

  private keep(draft: Draft): void {
    if ('note' in draft) {
      if (draft.note === 'verbatim' && draft.data.id === this.toolCallId) this.verbatim = draft.data.text;
    } else if (draft.type === 'tool.execution_complete') this.receipt = draft.data;
  }
}
