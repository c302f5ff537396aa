import type { ModelInfo, ModelProvider } from '@groundcrew/models';
import type { SessionMode } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { Compactor } from '../compaction/compactor.js';
import type { JobRunner } from '../exec/workers.js';
import type { Gate } from '../gate/gate.js';
import type { Hooks } from '../hooks/hooks.js';
import type { AgentLog } from '../log/agent-log.js';
import type { Draft } from '../log/session-log.js';
import type { ModelView, Prompt } from '../log/state.js';
import type { ModelCalls } from '../model-call/model-call.js';
import type { ModelSwitch } from '../questions/model-switch.js';
import type { Toolset } from '../tools/toolset.js';
import type { WantedStyle } from './answer-style.js';
import type { HistoryMemory } from './history-memory.js';
import type { Interaction, PromptExtras } from './interaction.js';

/** Bounds that keep a session from running for ever; each one exceeded is a clear error. */
export interface TurnLimits {
  readonly toolRounds: number;
  readonly queuedPrompts: number;
  readonly turnMilliseconds: number;
  /** How often hooks may keep an agent from stopping, for each prompt. */
  readonly stopBlocks: number;
  /** How often autopilot goes on by itself, for each prompt. */
  readonly continuations: number;
}

/** The model, its service, the system prompt and the tools of one model call; made anew before each call. */
export interface ModelPlan {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly info: ModelInfo | undefined;
  /** Another model of the same service, to answer in its place. */
  readonly otherModel?: string;
  readonly reasoningEffort?: string;
  readonly answerStyle: WantedStyle;
  readonly streaming: boolean;
  /** Answers say what of the documents they rest on. */
  readonly citations: boolean;
  readonly system: string;
  readonly toolset: Toolset;
}

/** What clients learn of a session's settings at its first turn. */
export interface SettingsReport {
  /** Tools that filters hide. */
  readonly hiddenTools: readonly string[];
  readonly warnings: readonly string[];
}

/** Model, prompt and tools as they are now. */
export interface AgentPlanner {
  /** No tools of servers have to be waited for. */
  isReady(): boolean;
  /** Waits for the tools of servers that are still starting. */
  ready(signal: AbortSignal): Promise<void>;
  /** The same with instructions as they stand and sections of the prompt as the app transforms them; waits for tools. */
  freshPlan(signal: AbortSignal): Promise<ModelPlan>;
  /** Throws ToolConflict when a client's tool stands in the way of a built-in one. */
  plan(): ModelPlan;
  /** The model that answers next. */
  model(): string;
  /** What the model that answers next can read. */
  view(): ModelView;
  /** What the model has to read of tools that came or went; asked once for each prompt. */
  noticeOfTools(mode?: SessionMode): string;
  /** The same of tools of servers, between two calls of one prompt. */
  noticeOfServers(): string;
  report(): SettingsReport;
  /** Warnings of options without effect that clients have not received yet. */
  optionWarnings(): readonly Draft[];
  /** Warnings of instructions and transforms that clients have not received yet. */
  promptWarnings(): readonly string[];
}

/** A prompt, with what belongs to it and may not be stored. */
export interface ReceivedPrompt {
  readonly prompt: Prompt;
  readonly extras: PromptExtras;
}

/** Prompts that join a running turn. */
export interface SteeringInbox {
  takeSteering(): Promise<readonly ReceivedPrompt[]>;
  /** What the model has to read of agents that have ended. */
  takeNotices?(): readonly Draft[];
  /** These wait again, before all others: the turn that had taken them was stopped. */
  putBack(prompts: readonly ReceivedPrompt[]): void;
}

/** What an agent knows of the session it works in. */
export interface SessionFacts {
  readonly sessionId: string;
  readonly clientName: string;
  readonly clock: Clock;
  readonly limits: TurnLimits;
  /** A warning about rules that cannot be read; each one once. */
  ruleWarning(): string | undefined;
  /** A warning about hooks files that cannot be read; once. */
  hookWarning(): string | undefined;
  /** True once for each time the session was opened: its first turn begins. */
  takeStart(): boolean;
  /** Changes the session's settings as a hook wants it. */
  configure(change: ConfigChange): Promise<void>;
  /** Runs what may take long outside of this thread. */
  jobs(): JobRunner;
  /** What autopilot works towards, as the app wrote it. */
  readObjective(): Promise<string | undefined>;
  /** Brings the session's transcript file up to date, and returns its path. */
  writeTranscript(): Promise<string>;
}

/** What a hook may change of the session that it starts. */
export interface ConfigChange {
  readonly model?: string | null | undefined;
  readonly reasoningEffort?: string | null | undefined;
  readonly availableTools?: readonly string[] | null | undefined;
  readonly excludedTools?: readonly string[] | null | undefined;
}

/** The model's window: the messages that fill it, and how room is made. */
export interface ContextWindow {
  /** Messages of the history that were read before. */
  readonly memory: HistoryMemory;
  readonly compactor: Compactor;
}

/** Everything a turn may touch: at most ten members. What is not here, a turn cannot do. */
export interface AgentContext {
  readonly log: AgentLog;
  readonly inbox: SteeringInbox;
  readonly hooks: Hooks;
  readonly gate: Gate;
  readonly planner: AgentPlanner;
  readonly models: ModelCalls;
  /** Asks users what to do about a model that is rate limited. */
  readonly modelSwitch: ModelSwitch;
  readonly window: ContextWindow;
  /** What the current prompt started. */
  readonly interaction: Interaction;
  readonly session: SessionFacts;
}
