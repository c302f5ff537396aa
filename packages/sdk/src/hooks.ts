import type { HookPoints, HookType, ParsedParams, Result } from '@groundcrew/protocol';

/** What a hook is told. */
export type HookInput<K extends HookType> = Omit<ParsedParams<HookPoints[K]>, 'timestamp' | 'cwd'> & {
  readonly timestamp: Date;
  readonly workingDirectory: string;
};

/** What a hook may answer; nothing is no opinion. */
export type HookOutput<K extends HookType> = Result<HookPoints[K]>;

/** A hook. One that throws stops what it was asked about. */
export type HookHandler<K extends HookType> = (
  input: HookInput<K>,
  invocation: { readonly sessionId: string },
  signal: AbortSignal,
) => HookOutput<K> | undefined | null | Promise<HookOutput<K> | undefined | null>;

/** Where an app may step into a turn. */
export interface SessionHooks {
  /** A tool call is about to be judged: allow, deny, ask, or change its arguments. */
  readonly onPreToolUse?: HookHandler<'preToolUse'>;
  /** A tool of an MCP server is about to be called. */
  readonly onPreMcpToolCall?: HookHandler<'preMcpToolCall'>;
  /** A tool call succeeded: change its result, or add to it. */
  readonly onPostToolUse?: HookHandler<'postToolUse'>;
  /** A tool call failed. */
  readonly onPostToolUseFailure?: HookHandler<'postToolUseFailure'>;
  /** A prompt came: change it, or add to it. */
  readonly onUserPromptSubmitted?: HookHandler<'userPromptSubmitted'>;
  /** The prompt stands as the model will see it. */
  readonly onUserPromptTransformed?: HookHandler<'userPromptTransformed'>;
  /** The first turn begins. */
  readonly onSessionStart?: HookHandler<'sessionStart'>;
  /** A turn is over. */
  readonly onSessionEnd?: HookHandler<'sessionEnd'>;
  /** A model call or a tool failed. */
  readonly onErrorOccurred?: HookHandler<'errorOccurred'>;
  /** The turn is about to settle: `block` gives the agent another prompt. */
  readonly onAgentStop?: HookHandler<'agentStop'>;
  /** A subagent begins. */
  readonly onSubagentStart?: HookHandler<'subagentStart'>;
  /** A subagent ends. */
  readonly onSubagentStop?: HookHandler<'subagentStop'>;
}

/** The hook an invocation is for, if the app has one. */
export function hookFor(hooks: SessionHooks, hookType: string): HookHandler<HookType> | undefined {
  const name = `on${hookType.charAt(0).toUpperCase()}${hookType.slice(1)}`;
  // The runtime pairs each type with its input; which one this is, is known only now.
  return Object.hasOwn(hooks, name) ? (hooks as Record<string, HookHandler<HookType>>)[name] : undefined;
}

/** What the wire says of a hook, in the words of the SDK. */
export function hookInput(input: unknown): HookInput<HookType> {
  const { timestamp, cwd, ...rest } = input as { readonly timestamp: number; readonly cwd: string };
  return { ...rest, timestamp: new Date(timestamp), workingDirectory: cwd } as HookInput<HookType>;
}
