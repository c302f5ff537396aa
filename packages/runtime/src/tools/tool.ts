import type { Part } from '@groundcrew/models';
import type { EventData, JsonObject } from '@groundcrew/protocol';
import type { Confinement } from '../exec/sandbox-confinement.js';
import type { JobRunner } from '../exec/workers.js';
import type { Refusal } from '../permissions/decision.js';
import type { LaterQuestion, PermissionQuestion } from '../permissions/question.js';
import type { FileSync } from '../workspace/file-sync.js';
import type { RecordWrite } from './file-write.js';
import type { LargeOutput } from './output.js';
import type { PlanQuestion } from './plan-question.js';
import type { SessionShells } from './shell/shells.js';
import type { UserQuestion } from './user-question.js';

/** Whose tool it is, in the words of tool filters. */
export type ToolOrigin = 'builtin' | 'mcp' | 'custom';

/** A rule that denies a path. */
export interface PathRule {
  readonly kind: string;
  readonly argument: string | null;
  readonly origin?: string;
}

/** What the tools of a session find around them. */
export interface ToolEnvironment {
  readonly workingDirectory: string;
  /** Where the session keeps what is its own; it may not be there yet. */
  readonly sessionDirectory: string;
  /** Keeps the session's own files the same as those that a client stores. */
  readonly sync?: FileSync;
  /** Files in these directories are touched without a question about the place. */
  readonly allowedDirectories: readonly string[];
  /** The runtime's own home, which is no part of directories around it. */
  readonly homeDirectory?: string;
  readonly largeOutput: LargeOutput;
  readonly shells: SessionShells;
  /** What the next command may touch; undefined, or without it, what the user may. Throws SandboxUnavailable. */
  confinement?(): Promise<Confinement | undefined>;
  /** Deny rules for paths that nothing holds while the next command runs. */
  unenforcedRules?(): Promise<readonly PathRule[]>;
  /** Where work goes that could take long. */
  readonly jobs: JobRunner;
  /** Writes a file by `work`, and remembers what was there before. */
  readonly recordWrite?: RecordWrite;
  /** Searches what was said and done in the session. */
  recall?(
    request: {
      readonly query: string;
      readonly id?: string | undefined;
      /** Who looks for it. */
      readonly agentId?: string | undefined;
    },
    signal: AbortSignal,
  ): Promise<string>;
}

/** Something small that clients receive beside a result; what the model has to know of it is kept. */
export type ToolNotice =
  | { readonly type: 'system.notification'; readonly data: EventData<'system.notification'> }
  | { readonly type: 'session.plan_changed'; readonly data: EventData<'session.plan_changed'> }
  | { readonly type: 'session.task_complete'; readonly data: EventData<'session.task_complete'> }
  | { readonly type: 'skill.invoked'; readonly data: EventData<'skill.invoked'> }
  | { readonly type: 'session.info'; readonly ephemeral: true; readonly data: EventData<'session.info'> }
  | { readonly type: 'session.todos_changed'; readonly data: EventData<'session.todos_changed'> };

export interface ToolContext extends ToolEnvironment {
  /** Asked by whatever finds a path: throws when rules forbid to look there. */
  checkPlace?(place: { readonly path: string; readonly real: string }): void;
  /** Asked by whatever comes upon files that no caller named: whether rules forbid to read there. */
  isForbidden?(place: { readonly path: string; readonly real: string }): boolean;
  /** Asked by whatever is led to another address: throws when rules forbid to look there. */
  checkAddress?(url: string): void;
  /** What a search must leave out because rules forbid to read it: patterns for ripgrep's `--glob`. */
  searchExclusions?(): readonly string[];
  readonly sessionId: string;
  /** The sub-agent that made the call; absent for the root agent. */
  readonly agentId?: string;
  readonly toolCallId: string;
  /** Shows what the tool has produced so far; cumulative. */
  progress(output: string): void;
  notify(notice: ToolNotice): void;
}

export type ResultType = 'success' | 'failure' | 'timeout' | Refusal['type'];

/** What came of a call. */
export interface ToolResult {
  readonly type: ResultType;
  /** What the model reads. */
  readonly text: string;
  /** What users read about a failure, where it is not the same. */
  readonly message?: string;
  /** What users are shown of a success, where it is not the same. */
  readonly details?: string;
  readonly contents?: readonly JsonObject[];
  /** Images and documents for the model. */
  readonly parts?: readonly Part[];
  readonly binaries?: readonly JsonObject[];
  readonly telemetry?: JsonObject;
  /** What an MCP server said beside its text. */
  readonly structured?: JsonObject;
  readonly meta?: JsonObject;
  /** The model asked for this much: it is shown whole, however long. */
  readonly isWhole?: true;
  /** Stands behind the text, however long that is. */
  readonly suffix?: string;
  /** The file that has all of the output already; `isPartial` when the text is not all of it. */
  readonly saved?: {
    readonly path: string;
    readonly bytes: number;
    readonly preview: string;
    readonly isPartial: boolean;
  };
  /** It ran in a sandbox. */
  readonly isConfined?: boolean;
}

/** What is known of a call only when it runs. */
export interface RunOptions {
  /** The `_meta` that goes to an MCP server. */
  readonly meta?: JsonObject | undefined;
}

/** A call that has passed validation and now waits for permission to run. */
export type PreparedCall = {
  /** Asked one after the other; the first refusal ends the call. */
  readonly questions?: readonly (PermissionQuestion | LaterQuestion)[];
} & (
  | {
      readonly type: 'run';
      run(signal: AbortSignal, options?: RunOptions): Promise<ToolResult>;
      /** Hooks look at it right before it goes to its server. */
      readonly mcpCall?: McpCall;
      /** Takes the place of `run` for a call that runs unasked because it only reads. */
      /** The client that declared the tool runs it, unless it is to run hardened. */
      readonly isHandedOver?: boolean;
      runHardened?(signal: AbortSignal): Promise<ToolResult>;
    }
  /** Some client runs it: it is asked by an event and answers with a method. */
  | { readonly type: 'external' }
  /** The user's answer is its result. */
  | { readonly type: 'ask'; readonly question: UserQuestion }
  /** What users say of the plan is its result. */
  | { readonly type: 'ask-about-plan'; readonly question: PlanQuestion }
);

/** What is known of a call before it is prepared. */
export type CallPreview = Pick<
  EventData<'tool.execution_start'>,
  'shellToolInfo' | 'mcpServerName' | 'mcpToolName'
> & { readonly toolTitle?: string };

/** A call of a tool of an MCP server, as hooks see it. */
export interface McpCall {
  readonly serverName: string;
  /** As the server calls it. */
  readonly toolName: string;
  readonly arguments: JsonObject;
}

/** What the loop needs to know of a tool, wherever it comes from: built in, MCP or a client. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** What the prompt says of it, beyond its description. */
  readonly notes?: string;
  readonly inputSchema: JsonObject;
  readonly source: ToolOrigin;
  /** Whose it is, for a tool of an MCP server. */
  readonly mcp?: { readonly mcpServerName: string; readonly mcpToolName: string };
  /** Another one when its server describes it otherwise. */
  readonly version?: string;
  /** Its definition is in every request, however many tools there are. */
  readonly isNeverDeferred?: boolean;
  /** It is meant to take the place of a built-in tool of its name. */
  readonly overridesBuiltIn?: boolean;
  /** A tool of the runtime that any client's tool of its name takes the place of. */
  readonly givesWay?: boolean;
  /** May run again after a crash that left it unknown whether it had run. */
  readonly isRepeatable: boolean;
  /** Its calls change nothing outside the session: they may run in plan mode, whatever permission they ask for. */
  readonly changesNothing?: boolean;
  /** No call of it ever needs a permission. */
  readonly isFree?: boolean;
  /** What the call is about, in a few words for users. */
  intention?(input: unknown): string | undefined;
  /** What clients receive about a call besides its arguments, when it begins. */
  preview?(input: unknown): Promise<CallPreview>;
  /** Throws ToolInputError when the input does not fit, ToolFailure when it cannot work. */
  prepare(input: unknown, context: ToolContext): PreparedCall | Promise<PreparedCall>;
}

/** The model's input does not fit the tool. */
export class ToolInputError extends Error {
  override readonly name = 'ToolInputError';
}

/** The tool cannot do what it was asked; `text` is for the model, the message for users. */
export class ToolFailure extends Error {
  override readonly name = 'ToolFailure';

  constructor(
    readonly text: string,
    message: string = text,
  ) {
    super(message);
  }
}
