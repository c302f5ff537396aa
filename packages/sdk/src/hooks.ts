import {
  type HookPoints,
  type HookType,
  hookTypes,
  type JsonValue,
  nearestName,
  type ParsedParams,
} from '@groundcrew/protocol';
import { GroundcrewError } from './errors.js';

/** What a hook receives. */
export type HookInput<K extends HookType> = Omit<ParsedParams<HookPoints[K]>, 'timestamp' | 'cwd'> & {
  readonly timestamp: Date;
  readonly workingDirectory: string;
};

/** What every hook may answer besides. */
export interface CommonHookOutput {
  /** Users see this: every client receives it as a `session.info`. */
  readonly userNotification?: string | null;
  /** `hook.end` does not show what the hook answered. */
  readonly suppressOutput?: boolean | null;
}

/** What a hook before a tool call may answer. */
export interface PreToolUseHookOutput extends CommonHookOutput {
  /** `allow` runs the call unasked, `ask` asks the user, `deny` ends the call. Deny rules stand above `allow`. */
  readonly permissionDecision?: 'allow' | 'deny' | 'ask' | null;
  /** Read by the model and by users. */
  readonly permissionDecisionReason?: string | null;
  /** What the call is run with instead. The tool checks it again, and the rules judge it. */
  readonly modifiedArgs?: unknown;
  /** A message for the model after the results. */
  readonly additionalContext?: string | null;
}

/** What a hook after a tool call may answer. */
export interface PostToolUseHookOutput extends CommonHookOutput {
  /** Takes the place of the result, for the model and for clients. */
  readonly modifiedResult?: {
    readonly textResultForLlm: string;
    readonly resultType?: 'success' | 'failure' | 'rejected' | 'denied' | 'timeout' | (string & {});
    readonly [field: string]: unknown;
  } | null;
  /** Stands at the end of the result that the model reads. */
  readonly additionalContext?: string | null;
}

/** What each hook may answer; nothing is no opinion. */
export interface HookOutputs {
  readonly preToolUse: PreToolUseHookOutput;
  readonly postToolUse: PostToolUseHookOutput;
  readonly postToolUseFailure: CommonHookOutput & {
    /** A message for the model after the results. */
    readonly additionalContext?: string | null;
  };
  readonly preMcpToolCall: CommonHookOutput & {
    /** `deny` ends the call; it was permitted before, so there is nothing to ask. */
    readonly permissionDecision?: 'allow' | 'deny' | null;
    /** Read by the model and by users. */
    readonly permissionDecisionReason?: string | null;
    /** An object takes the place of `_meta`, null removes it; without it `_meta` stays. */
    readonly metaToUse?: Readonly<Record<string, JsonValue>> | null;
  };
  readonly userPromptSubmitted: CommonHookOutput & {
    /** Takes the place of the prompt, for clients too. */
    readonly modifiedPrompt?: string | null;
    /** A reminder for the model at the end of the prompt. */
    readonly additionalContext?: string | null;
  };
  readonly userPromptTransformed: CommonHookOutput & {
    /** Takes the place of the whole text that the model gets; clients see the prompt as it was. */
    readonly modifiedTransformedPrompt?: string | null;
  };
  readonly sessionStart: CommonHookOutput & {
    /** A message for the model before the prompt. */
    readonly additionalContext?: string | null;
    /** What the session goes by from its first model call on. */
    readonly modifiedConfig?: {
      readonly model?: string | null;
      readonly reasoningEffort?: string | null;
      readonly availableTools?: string[] | null;
      readonly excludedTools?: string[] | null;
    } | null;
  };
  readonly sessionEnd: CommonHookOutput & {
    /** What the session was about, for lists of sessions. */
    readonly sessionSummary?: string | null;
    /** What was cleaned up, for readers of `hook.end`. */
    readonly cleanupActions?: readonly string[] | null;
  };
  readonly errorOccurred: CommonHookOutput & {
    /** `retry` tries again, `skip` goes on as if it had not been, `abort` ends the turn. */
    readonly errorHandling?: 'retry' | 'skip' | 'abort' | null;
    /** How often to try again; 1 unless given, and at most 5. */
    readonly retryCount?: number | null;
  };
  readonly agentStop: CommonHookOutput & {
    /** `block` gives the agent `reason` as its next prompt. */
    readonly decision?: 'block' | null;
    readonly reason?: string | null;
  };
  readonly subagentStart: CommonHookOutput;
  readonly subagentStop: CommonHookOutput;
}

/** What a hook may answer. */
export type HookOutput<K extends HookType> = HookOutputs[K];

/** What a hook returns: its output, or nothing where it has no opinion. */
type Answered<K extends HookType> = HookOutputs[K] | undefined | null;

/** A hook. One that throws stops what it was asked about. */
export type HookHandler<K extends HookType> = (
  input: HookInput<K>,
  invocation: { readonly sessionId: string },
  signal: AbortSignal,
) => Answered<K> | Promise<Answered<K>> | Promise<void>;

/** Where an app may step into a turn. */
export interface SessionHooks {
  /**
   * A tool call is about to be judged: allow, deny, ask, or change its arguments. One that throws, hangs or answers
   * nonsense denies the call.
   *
   * @example
   * onPreToolUse: ({ toolName }) =>
   *   toolName === 'bash' ? { permissionDecision: 'deny', permissionDecisionReason: 'no commands today' } : undefined
   */
  readonly onPreToolUse?: HookHandler<'preToolUse'>;
  /**
   * A tool of an MCP server is about to be called: deny it, or change the `_meta` that goes along. One that fails denies
   * the call.
   *
   * @example
   * onPreMcpToolCall: ({ serverName }) => ({ metaToUse: { tenant: 'a', server: serverName } })
   */
  readonly onPreMcpToolCall?: HookHandler<'preMcpToolCall'>;
  /**
   * A tool call succeeded: change its result before the model and clients see it, or add to it.
   *
   * @example
   * onPostToolUse: ({ toolResult }) => ({
   *   modifiedResult: { ...toolResult, textResultForLlm: toolResult.textResultForLlm.replaceAll(secret, '***') },
   * })
   */
  readonly onPostToolUse?: HookHandler<'postToolUse'>;
  /**
   * A tool call failed; a denied one does not count.
   *
   * @example
   * onPostToolUseFailure: ({ toolName }) => ({ additionalContext: `Try something else than ${toolName}.` })
   */
  readonly onPostToolUseFailure?: HookHandler<'postToolUseFailure'>;
  /**
   * A prompt came, from a user or from the runtime: change it, or add to it.
   *
   * @example
   * onUserPromptSubmitted: ({ prompt }) => ({ modifiedPrompt: prompt.replaceAll(secret, '***') })
   */
  readonly onUserPromptSubmitted?: HookHandler<'userPromptSubmitted'>;
  /**
   * The prompt stands as the model will see it.
   *
   * @example
   * onUserPromptTransformed: ({ transformedPrompt }) => ({ modifiedTransformedPrompt: `${transformedPrompt}\nBe brief.` })
   */
  readonly onUserPromptTransformed?: HookHandler<'userPromptTransformed'>;
  /**
   * The first turn begins since the session was opened: add context, or choose model and tools.
   *
   * @example
   * onSessionStart: () => ({ additionalContext: 'Today is a public holiday.' })
   */
  readonly onSessionStart?: HookHandler<'sessionStart'>;
  /**
   * A turn is over.
   *
   * @example
   * onSessionEnd: ({ reason }) => console.log(`The turn ended: ${reason}`)
   */
  readonly onSessionEnd?: HookHandler<'sessionEnd'>;
  /**
   * A model call, a tool, the runtime or the reading of a prompt failed.
   *
   * @example
   * onErrorOccurred: ({ errorContext }) =>
   *   errorContext === 'model_call' ? { errorHandling: 'retry', retryCount: 3 } : undefined
   */
  readonly onErrorOccurred?: HookHandler<'errorOccurred'>;
  /**
   * The turn is about to settle: `block` gives the agent another prompt, 3 times for each prompt unless
   * `hookOptions.stopBlocks` says otherwise.
   *
   * @example
   * onAgentStop: ({ stop_hook_active }) =>
   *   stop_hook_active ? undefined : { decision: 'block', reason: 'Run the tests before you stop.' }
   */
  readonly onAgentStop?: HookHandler<'agentStop'>;
  /**
   * A sub-agent begins.
   *
   * @example
   * onSubagentStart: ({ agentName }) => console.log(`${agentName} begins`)
   */
  readonly onSubagentStart?: HookHandler<'subagentStart'>;
  /**
   * A sub-agent ends.
   *
   * @example
   * onSubagentStop: ({ agentName }) => console.log(`${agentName} has ended`)
   */
  readonly onSubagentStop?: HookHandler<'subagentStop'>;
}

/** How the hooks of this client are treated. */
export interface HookOptions {
  /** A hook that has not answered by then has failed; 60,000 unless given. */
  readonly timeoutMs?: number;
  /** What a failed hook before a tool call means: `deny` unless given; `allow` makes it advisory. */
  readonly onFailure?: 'deny' | 'allow';
  /** How often `onAgentStop` may keep the agent from stopping, for each prompt; 3 unless given. */
  readonly stopBlocks?: number;
}

/** The hook an invocation is for, if the app has one. Hooks may be methods of an object, and are called as such. */
export function hookFor(hooks: SessionHooks, hookType: string): HookHandler<HookType> | undefined {
  if (!hookTypes.some((known) => known === hookType)) return undefined;
  // The runtime pairs each type with its input; which one this is, is known only now.
  const hook = (hooks as Record<string, HookHandler<HookType> | null | undefined>)[nameOf(hookType)];
  return hook ? (...asked) => hook.apply(hooks, asked) : undefined;
}

/** The points that an app has hooks for, those of a class included: the runtime asks at no other. */
export function hookTypesOf(hooks: SessionHooks): HookType[] {
  const names = [...new Set(namesIn(hooks))];
  for (const name of names) refuseUseless(name, hooks);
  return names.flatMap((name) => hookTypes.filter((type) => nameOf(type) === name && hookFor(hooks, type)));
}

/** An app that denies in a hook must not run without it. */
function refuseUseless(name: string, hooks: SessionHooks): void {
  const hook = (hooks as Readonly<Record<string, unknown>>)[name];
  if (hook === undefined || hook === null) return;
  const names = hookTypes.map(nameOf);
  if (names.includes(name)) {
    if (typeof hook === 'function') return;
    throw new GroundcrewError('invalid_option', `The hook '${name}' is no function`);
  }
  const near = nearestName(name, names);
  const hint = near === undefined ? `there are ${names.join(', ')}` : `did you mean '${near}'?`;
  throw new GroundcrewError('invalid_option', `There is no hook '${name}': ${hint}`);
}

/** The names that can only be meant for hooks: an object of a class may have fields and methods of its own besides. */
function namesIn(hooks: SessionHooks): readonly string[] {
  const names = Object.keys(hooks);
  let place: object | null = Object.getPrototypeOf(hooks);
  if (place === Object.prototype || place === null) return names;
  for (; place !== null && place !== Object.prototype; place = Object.getPrototypeOf(place))
    names.push(...Object.getOwnPropertyNames(place));
  return names.filter((name) => /^on[A-Z]/.test(name));
}

function nameOf(hookType: string): string {
  return `on${hookType.charAt(0).toUpperCase()}${hookType.slice(1)}`;
}

/** What the wire says of a hook, in the words of the SDK. */
export function hookInput(input: unknown): HookInput<HookType> {
  const { timestamp, cwd, ...rest } = input as { readonly timestamp: number; readonly cwd: string };
  return { ...rest, timestamp: new Date(timestamp), workingDirectory: cwd } as HookInput<HookType>;
}
