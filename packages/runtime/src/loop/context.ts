import type { ModelError, ModelInfo, ModelProvider, Price } from '@groundcrew/models';
import type { Clock } from '../clock.js';
import type { PolicyRules, Prohibitions } from '../permissions/policy.js';
import type { Inbox } from '../session/inbox.js';
import type { Draft, SessionLog } from '../session/log.js';
import type { ModelSwitch } from '../session/model-switch.js';
import type { Questions } from '../session/questions.js';
import type { Prompt } from '../session/shape.js';
import type { UserInput } from '../session/user-input.js';
import type { Waits } from '../session/waits.js';
import type { ToolSurroundings } from '../tools/tool.js';
import type { Toolset } from '../tools/toolset.js';
import type { CallMemory } from './call-memory.js';
import type { Interaction, RequestHeaders } from './interaction.js';

/** Bounds that keep a session from running for ever; each one exceeded is a clear error. */
export interface LoopLimits {
  readonly toolRounds: number;
  readonly queuedPrompts: number;
  readonly turnMilliseconds: number;
}

/** What one model call goes by; made anew before each one. */
export interface ModelPlan {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly info: ModelInfo | undefined;
  /** Another model of the same service, to answer in its place. */
  readonly otherModel?: string;
  readonly reasoningEffort?: string;
  readonly streaming: boolean;
  /** Answers say what of the documents they rest on. */
  readonly citations: boolean;
  readonly system: string;
  readonly toolset: Toolset;
}

/** What a conversation is that the model has no room for. */
export interface Overflow {
  readonly error: ModelError;
  readonly log: SessionLog;
  readonly plan: ModelPlan;
}

/** Makes a conversation shorter that does not fit into the model; true when it is worth asking again. */
export type MakeRoom = (overflow: Overflow, signal: AbortSignal) => Promise<boolean>;

/** What people have to hear of a session's settings. */
export interface Oddities {
  /** Tools that filters hide. */
  readonly hiddenTools: readonly string[];
  readonly warnings: readonly string[];
}

/** Everything the loop may touch. What is not here, the loop cannot do. */
export interface LoopContext {
  readonly sessionId: string;
  readonly workingDirectory: string;
  readonly clientName: string;
  readonly log: SessionLog;
  readonly inbox: Inbox;
  readonly questions: Questions;
  readonly userInput: UserInput;
  readonly clock: Clock;
  readonly limits: LoopLimits;
  readonly waits: Waits;
  readonly memory: CallMemory;
  /** What the current prompt started. */
  readonly interaction: Interaction;
  /** Asks people what to do about a model that cannot be had for now. */
  readonly modelSwitch: ModelSwitch;
  /** Headers that came with a prompt; they are asked for once. */
  headersOf(prompt: Prompt): RequestHeaders | undefined;
  /** What a model costs, if anybody knows. */
  priceOf(model: string): Promise<Price | undefined>;
  /** True when the conversation has been made shorter, so that it may fit now. */
  makeRoom(error: ModelError, signal: AbortSignal): Promise<boolean>;
  /** The model that answers next. */
  model(): string;
  canSeeImages(): boolean;
  /** Types of documents that the model reads as they are. */
  documents(): readonly string[];
  /** What the model has to hear of tools that came or went; asked once for each prompt. */
  noticeOfTools(): string;
  /** Warnings of options that have no effect, and that have not been said yet. */
  optionWarnings(): readonly Draft[];
  /** What people have to hear of the session's settings at its first turn. */
  oddities(): Oddities;
  /** Model, prompt and tools as they are now. */
  plan(): ModelPlan;
  policy(): PolicyRules;
  /** The part of the policy that nobody can lift. */
  prohibitions(): Prohibitions;
  /** Ends what runs: what it was built upon could not be stored. */
  giveUp(error: unknown): void;
  /** What people have to hear of rules that cannot be read; each trouble once. */
  trouble(): string | undefined;
  /** What tools find around them now. */
  toolSurroundings(): ToolSurroundings;
}
