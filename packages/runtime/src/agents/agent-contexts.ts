import type { Price } from '@groundcrew/models';
import type { Clock } from '../clock.js';
import { Compactor, type CompactorParts } from '../compaction/compactor.js';
import type { GatePermissions } from '../gate/call-permissions.js';
import { Gate } from '../gate/gate.js';
import { reportError } from '../hooks/error-hooks.js';
import type { HookGuard } from '../hooks/guard.js';
import { type HookSource, Hooks } from '../hooks/hooks.js';
import type { AgentLog } from '../log/agent-log.js';
import type { SessionLog } from '../log/session-log.js';
import type { Cap, ModelCallParts } from '../model-call/call-request.js';
import { ModelCalls } from '../model-call/model-call.js';
import type { AskedClient } from '../questions/asked-client.js';
import { CallQuestions } from '../questions/call-questions.js';
import { ModelSwitch } from '../questions/model-switch.js';
import type { Offers } from '../questions/offers.js';
import type { Questions } from '../questions/questions.js';
import type { Waits } from '../questions/waits.js';
import type { ToolEnvironment } from '../tools/tool.js';
import type {
  AgentContext,
  AgentPlanner,
  ConfigChange,
  SteeringInbox,
  TurnLimits,
} from '../turn/agent-context.js';
import { HistoryMemory } from '../turn/history-memory.js';
import type { Interaction } from '../turn/interaction.js';
import type { Planner } from '../turn/planner.js';

/** What one agent has of its own; all else it shares with the session's other agents. */
export interface AgentParts {
  readonly log: AgentLog;
  readonly planner: AgentPlanner;
  readonly inbox: SteeringInbox;
  /** What it may take; none for the root agent. */
  caps?(): readonly Cap[];
}

/** The contexts of one agent's interactions, and what they have in common. */
export interface AgentContexts {
  /** Summarises the agent's conversation when its window fills. */
  readonly compactor: Compactor;
  of(interaction: Interaction): AgentContext;
}

/** Makes the contexts of an agent. */
export type MakeAgentContexts = (parts: AgentParts) => AgentContexts;

/** What the session around its agents gives them. */
export interface AgentHost {
  readonly sessionId: string;
  readonly clock: Clock;
  readonly limits: TurnLimits;
  readonly planner: Planner;
  readonly permissions: GatePermissions;
  readonly audience: {
    readonly answersModelSwitches: boolean;
    modelSwitchers(): readonly AskedClient[];
    answerersOf: ConstructorParameters<typeof CallQuestions>[0]['clients'];
  };
  /** When the conversation is summarised, and with what beside it. */
  readonly compaction: Omit<CompactorParts, 'log' | 'models'>;
  /** What a model costs, if it is known. */
  priceOf(model: string): Promise<Price | undefined>;
  toolEnvironment(): ToolEnvironment;
  /** Those whose hooks are called, in the order in which they came. */
  hookSources(): readonly HookSource[];
  /** A warning about hooks files that cannot be read; once. */
  hookWarning(): string | undefined;
  configure(change: ConfigChange): Promise<void>;
  readObjective(): Promise<string | undefined>;
  writeTranscript(): Promise<string>;
}

/** What all agents of a session share. */
interface SharedParts extends AgentHost {
  readonly sessionLog: SessionLog;
  readonly questions: Questions;
  readonly offers: Offers;
  readonly waits: Waits;
  readonly guard: HookGuard;
  takeStart(): boolean;
}

/** Everything that the turns of one agent may touch: the same gate, hooks and questions for every agent. */
export function agentContexts({ log, planner, inbox, caps }: AgentParts, shared: SharedParts): AgentContexts {
  const { clock, questions, offers, waits, guard, permissions, audience } = shared;
  const parts = { log, clock, questions, waits };
  const hooks = new Hooks({ ...parts, sources: () => shared.hookSources() });
  const toolEnvironment = () => shared.toolEnvironment();
  const models = modelCalls({ ...parts, ...(caps && { caps }) }, hooks, shared);
  const isRoot = log.agentId === undefined;
  const compactor = new Compactor({ log, models, ...shared.compaction, ...(isRoot ? {} : ofSubAgent) });
  const fixed = {
    log,
    inbox,
    hooks,
    planner,
    gate: new Gate({
      ...parts,
      offers,
      callQuestions: new CallQuestions({
        log,
        questions,
        clock,
        clients: (kind) => audience.answerersOf(kind),
      }),
      hooks,
      guard,
      permissions,
      toolEnvironment,
    }),
    models,
    modelSwitch: new ModelSwitch({
      canAsk: () => audience.answersModelSwitches,
      clients: () => audience.modelSwitchers(),
      clock,
      questions,
      offers,
      log: shared.sessionLog,
    }),
    window: { memory: new HistoryMemory(), compactor },
  };
  return {
    compactor,
    of: (interaction) => ({ ...fixed, interaction, session: sessionFacts(shared, isRoot) }),
  };
}

/** Plans, todos and checkpoints are the session's: the summary of a sub-agent neither has nor makes any. */
const ofSubAgent: Pick<CompactorParts, 'openWork' | 'keepCheckpoint'> = {
  openWork: async () => ({ todos: [], questions: [] }),
  keepCheckpoint: async () => undefined,
};

function modelCalls(
  parts: Pick<ModelCallParts, 'log' | 'clock' | 'questions' | 'waits' | 'caps'>,
  hooks: Hooks,
  { priceOf }: Pick<SharedParts, 'priceOf'>,
): ModelCalls {
  return new ModelCalls({
    ...parts,
    priceOf,
    failed: (error, recoverable, signal) =>
      reportError(hooks, { error: error.message, errorContext: 'model_call', recoverable }, signal),
  });
}

/** What an agent knows of the session; only the root agent is there when it starts. */
function sessionFacts(shared: SharedParts, isRoot: boolean): AgentContext['session'] {
  const { permissions, clock } = shared;
  return {
    sessionId: shared.sessionId,
    clientName: shared.planner.settings.clientName,
    clock,
    limits: shared.limits,
    ruleWarning: () => permissions.warning(),
    hookWarning: () => shared.hookWarning(),
    takeStart: () => isRoot && shared.takeStart(),
    configure: (change) => shared.configure(change),
    jobs: () => shared.toolEnvironment().jobs,
    readObjective: () => shared.readObjective(),
    writeTranscript: () => shared.writeTranscript(),
  };
}
