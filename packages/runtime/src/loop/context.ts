import type { ModelInfo, ModelProvider } from '@groundcrew/models';
import type { Clock } from '../clock.js';
import type { PolicyRules } from '../permissions/policy.js';
import type { Inbox } from '../session/inbox.js';
import type { SessionLog } from '../session/log.js';
import type { Metrics } from '../session/metrics.js';
import type { Questions } from '../session/questions.js';
import type { UserInput } from '../session/user-input.js';
import type { ToolSurroundings } from '../tools/tool.js';
import type { Toolset } from '../tools/toolset.js';
import type { Interaction } from './interaction.js';

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
  readonly reasoningEffort?: string;
  readonly streaming: boolean;
  readonly system: string;
  readonly toolset: Toolset;
}

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
  readonly metrics: Metrics;
  /** What the current prompt started. */
  readonly interaction: Interaction;
  /** The model that answers next. */
  model(): string;
  canSeeImages(): boolean;
  /** What the model has to hear of tools that came or went; asked once for each prompt. */
  noticeOfTools(): string;
  /** What people have to hear of the session's settings at its first turn. */
  oddities(): Oddities;
  /** Model, prompt and tools as they are now. */
  plan(): ModelPlan;
  policy(): PolicyRules;
  /** What people have to hear of rules that cannot be read; each trouble once. */
  trouble(): string | undefined;
  /** What tools find around them now. */
  toolSurroundings(): ToolSurroundings;
}
