import type { ImageLimits, KeptBlock, Part, ToolCall } from '@groundcrew/models';
import type { EventOf, SessionMode } from '@groundcrew/protocol';
import type { SessionContext } from '@groundcrew/store';
import type { SessionLimits } from '../budget/limits.js';
import { nothingSpent, type Spending } from '../budget/spending.js';
import { ownEntry } from '../own-entry.js';
import { initialPermissions, type PermissionSettings } from '../permissions/settings.js';
import type { ToolResult } from '../tools/tool.js';
import type { AgentTask } from './agent-task.js';
import type { Objective, StopRequest } from './autopilot-state.js';
import type { ClientTask } from './client-task.js';
import { type CodeChanges, type FileChange, nothingChanged } from './file-change.js';
import type { FixedSettings } from './fixed-settings.js';
import type { OpenQuestion, OpenRequest } from './open-question.js';
import type { Pinned } from './pinned.js';
import type { AnswerFormat, Prompt } from './prompt.js';
import type { RemovedRange } from './removed-records.js';
import type { Schedule } from './schedule.js';

export type { AnswerFormat, Prompt };

/** What a model can read. What it cannot stays in the history, for one that can may be chosen later. */
export interface ModelView {
  readonly model: string;
  readonly canSeeImages: boolean;
  /** What it takes of images, where that is known. */
  readonly images?: ImageLimits;
  /** Types of documents that it reads as they are. */
  readonly documents: readonly string[];
}

/** One thing said in the conversation, as the model knows it. */
export type HistoryEntry =
  | {
      readonly role: 'user';
      readonly eventId: string;
      readonly parts: readonly Part[];
      /** Said into a running turn, where a prompt begins one. */
      readonly isAside?: boolean;
      /** Not said by the user. */
      readonly isNotice?: boolean;
    }
  | {
      readonly role: 'assistant';
      readonly eventId: string;
      readonly text: string;
      readonly toolCalls: readonly ToolCall[];
      /** What the model wants back as it was, such as its thoughts under seal; no other model can read it. */
      readonly kept?: { readonly model: string; readonly blocks: readonly KeptBlock[] };
    }
  | {
      readonly role: 'tool';
      readonly eventId: string;
      readonly callId: string;
      readonly text: string;
      /** Images and documents that belong to the result. */
      readonly parts?: readonly Part[];
    };

/** Where one model's view of the history begins; what lies before it is left out. */
export interface ViewCut {
  readonly model: string;
  readonly fromEventId: string;
}

/** How a model was asked, less what the log says besides: the system prompt, the messages, the tools. */
export interface SentRequest {
  /** The messages are those that the log added up to then. */
  readonly atSeq: number;
  /** The tools, by the name of what was offered. */
  readonly tools: string;
  readonly wire: string;
  /** What of the history the model saw, and what it can read. */
  readonly cut?: ViewCut;
  readonly view: ModelView;
  /** Everything else of the request, as the wire got it. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A model call begun, and whether its answer is there. */
export interface OpenTurn {
  readonly turnId: string;
  readonly interactionId: string;
  readonly hasAnswer: boolean;
  /** A user rejected one of its calls: the model is not called again. */
  readonly isRejected?: boolean;
}

/** What hooks want the model to read because of a call. */
export interface CallContext {
  readonly toolCallId: string;
  readonly source: string;
  readonly texts: readonly string[];
}

/** A tool call begun and not yet answered. */
export interface OpenCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: unknown;
  /** How often its effect was allowed to happen; 0 means that it certainly has not. */
  readonly attempts: number;
  /** Why its arguments could not be read. */
  readonly problem?: string;
  /** The user approved it while the session's hooks were away. */
  readonly isUnguarded?: boolean;
  /** What hooks made of its arguments. */
  readonly modified?: { readonly arguments: unknown };
  /** What it came to, where its receipt is not written yet. */
  readonly answer?: ToolResult;
  /** The questions users said yes to so far. */
  readonly granted?: readonly EventOf<'permission.requested'>['data'][];
}

/** One agent's part of the session: its conversation with the model, and the work it has open. */
export interface AgentState {
  readonly history: readonly HistoryEntry[];
  /** Length of all text in the history; tokens are estimated from it. */
  readonly historySize: number;
  /** What a model sees of it, where all of it has no room; absent: everything. */
  readonly view?: ViewCut;
  /** The newest summary, which stands at the beginning of the history. */
  readonly compaction?: { readonly count: number; readonly pinned: Pinned };
  /** A summary is being made. */
  readonly isCompacting?: boolean;
  readonly systemPrompt: string;
  /** Names of tools that the log has, by what requests offered. */
  readonly offered?: readonly string[];
  /** A prompt that is a message, while its turn has not begun. */
  readonly awaited?: { readonly interactionId: string; readonly prompt: string };
  readonly turn?: OpenTurn;
  readonly calls: readonly OpenCall[];
  readonly questions: readonly OpenQuestion[];
  /** The form that the answer to the prompt has to have; until it is there, or cannot be had. */
  readonly output?: AnswerFormat & { readonly interactionId: string };
  /** That the agent wants to stop, until it may or goes on; how often hooks have kept it from stopping. */
  readonly stop?: StopRequest & { readonly isOpen: boolean };
  /** What hooks want the model to read after the results of the turn that runs. */
  readonly contexts: readonly CallContext[];
  /** Arguments and results as the model has them, until the event they belong to arrives. */
  readonly verbatim: Readonly<Record<string, Verbatim>>;
  /** What this agent's own model calls took. */
  readonly spending: Spending;
}

/** The id under which the fold keeps the agent that the user talks to; its records carry none. */
export const rootAgentId = '';

/** A canvas that is open, as far as the log keeps it. */
export interface OpenCanvas {
  readonly instanceId: string;
  readonly extensionId: string;
  readonly canvasId: string;
  readonly title?: string | undefined;
  readonly input?: unknown;
}

/** All that a session's log adds up to. Plain data: a snapshot of it is its JSON. */
export interface SessionState {
  readonly seq: number;
  readonly eventCount: number;
  readonly snapshotSeq: number;
  readonly lastEventId: string | null;
  readonly createdAt: string;
  readonly modifiedAt: string;
  readonly userTurns: number;
  readonly summary?: string | undefined;
  readonly fixed: Partial<FixedSettings>;
  readonly context: SessionContext;
  readonly model?: string;
  readonly reasoningEffort?: string;
  /** No client has named the model: it is what there was at the first turn. */
  readonly isModelByDefault?: boolean;
  /** Chosen while a turn ran, for the next one. */
  readonly nextModel?: ModelChange;
  /** Rate limited when the choice was last left to the service. */
  readonly limitedModel?: string;
  readonly mode: SessionMode;
  /** The mode of the prompt that runs, where its sender named one. */
  readonly promptMode?: SessionMode;
  /** How often autopilot went on by itself since the user's last prompt. */
  readonly continuations: number;
  /** What autopilot works towards; its text is in a file of the session's directory. */
  readonly objective?: Objective;
  /** The agent has said that the task of the last prompt is done. */
  readonly isTaskComplete: boolean;
  readonly inbox: readonly Prompt[];
  /** Prompts wait until a client says otherwise; words for the running turn do not. */
  readonly isQueuePaused?: boolean;
  /** What came under ids of its senders', the newest last; enough of them for any retry. */
  readonly receipts: Readonly<Record<string, string>>;
  /** What users approved for the rest of the session. */
  readonly approvals: readonly Readonly<Record<string, unknown>>[];
  readonly permissions: PermissionSettings;
  /** What all agents have spent together. */
  readonly spending: Spending;
  readonly limits: SessionLimits;
  /** Sub-agents by their id, in the order in which they began. */
  readonly tasks: Readonly<Record<string, AgentTask>>;
  /** What clients work on, by its id. */
  readonly clientTasks?: Readonly<Record<string, ClientTask>>;
  /** The agent that is to lead the session from the next prompt on. */
  readonly selectedAgent?: string;
  /** The one that has led it since the last prompt. */
  readonly leadingAgent?: string;
  /** Questions of apps and MCP servers; they outlive turns. */
  readonly requests: readonly OpenRequest[];
  /** Canvases that are open, by their instance. */
  readonly canvases?: Readonly<Record<string, OpenCanvas>>;
  /** The event of the root agent's newest prompt. */
  readonly promptId?: string | undefined;
  /** Records that were cut off: no reader sees them. */
  readonly removed: readonly RemovedRange[];
  /** Files that tools wrote while their changes were tracked, the newest last. */
  readonly fileChanges: readonly FileChange[];
  /** There were older changes than these: a rewind cannot go back so far with files. */
  readonly hasForgottenChanges?: boolean;
  readonly codeChanges: CodeChanges;
  /** Prompts that come by themselves. */
  readonly schedules: readonly Schedule[];
  readonly lastScheduleId: number;
  /** Every agent that has written a record, by its id; the root's is `''`. */
  readonly agents: Readonly<Record<string, AgentState>>;
}

/** Another model, as clients will see it. */
export type ModelChange = EventOf<'session.model_change'>['data'];

export const initialAgent: AgentState = {
  history: [],
  historySize: 0,
  systemPrompt: '',
  calls: [],
  questions: [],
  contexts: [],
  verbatim: {},
  spending: nothingSpent,
};

export const initialState: SessionState = {
  seq: 0,
  eventCount: 0,
  snapshotSeq: 0,
  lastEventId: null,
  createdAt: '',
  modifiedAt: '',
  userTurns: 0,
  fixed: {},
  context: { cwd: '' },
  mode: 'interactive',
  continuations: 0,
  isTaskComplete: false,
  inbox: [],
  receipts: {},
  approvals: [],
  permissions: initialPermissions,
  spending: nothingSpent,
  limits: {},
  tasks: {},
  requests: [],
  removed: [],
  fileChanges: [],
  codeChanges: nothingChanged,
  schedules: [],
  lastScheduleId: 0,
  agents: {},
};

/** Questions that no client has answered yet: of all agents, of apps and of MCP servers. */
export function openQuestions({ agents, requests }: SessionState): readonly OpenQuestion[] {
  return [...Object.values(agents).flatMap(({ questions }) => questions), ...requests];
}

/** The mode that counts now: the running prompt's own, else the session's. */
export function modeOf({ mode, promptMode }: SessionState): SessionMode {
  return promptMode ?? mode;
}

/** What the fold knows of an agent; an agent without records has the initial state. */
export function agentOf({ agents }: SessionState, agentId: string = rootAgentId): AgentState {
  return ownEntry(agents, agentId) ?? initialAgent;
}

/** What the model wrote or read, letter by letter, where the public event that follows says it otherwise. */
export interface Verbatim {
  /** The tool call, the prompt or the answer it belongs to. */
  readonly id: string;
  readonly text: string;
  /** What comes after the text: images, documents. */
  readonly parts?: readonly Part[];
  /** What an answer has beside its text and its calls. */
  readonly kept?: readonly KeptBlock[];
}
