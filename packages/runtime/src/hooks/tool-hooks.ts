import { isObject, type JsonObject } from '@groundcrew/protocol';
import type { ToolResult } from '../tools/tool.js';
import {
  endOf,
  type HookAnswer,
  type HookEnd,
  type HookInput,
  type HookRecord,
  type Hooks,
  outputsOf,
  shownOutput,
  stoppedEnd,
} from './hooks.js';

/** A call as hooks see it. */
export interface HookedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: unknown;
}

/** What hooks made of a call before it runs. */
export interface CallReview {
  /** Deny stands above ask, ask above allow; without a decision the policy alone decides. */
  readonly decision?: 'allow' | 'ask' | 'deny';
  readonly reason?: string;
  /** What the call is to be run with instead. */
  readonly modified?: { readonly arguments: unknown };
  /** What the model reads after the results. */
  readonly contexts: readonly string[];
}

/** The calls of one message: their hooks share one record, and each is reviewed by itself. */
export class CallReviews {
  private readonly answers = new Map<string, readonly PreToolUseAnswer[]>();
  private readonly record: HookRecord;
  private left: number;

  constructor(
    private readonly hooks: Hooks,
    calls: readonly HookedCall[],
  ) {
    this.left = calls.length;
    this.record = hooks.open('preToolUse', {
      ...hooks.common(),
      toolCalls: calls.map(({ toolCallId, toolName, arguments: args }) => ({
        id: toolCallId,
        name: toolName,
        args,
      })),
    });
  }

  /** Asks every source about one call; each sees what the one before made of the arguments. */
  async review(
    { toolCallId, toolName, arguments: toolArgs }: HookedCall,
    signal: AbortSignal,
  ): Promise<CallReview> {
    try {
      const answers = await this.hooks.ask('preToolUse', { toolName, toolArgs }, signal, withArguments);
      this.answers.set(toolCallId, answers);
      return reviewOf(answers);
    } finally {
      this.left -= 1;
      if (this.left === 0) this.record.close(this.end(signal), [...this.answers.values()].flat());
    }
  }

  /** The outputs of hooks: for one call its own, for several a list with one for each. */
  private end(signal: AbortSignal): HookEnd {
    if (signal.aborted) return stoppedEnd;
    const all = [...this.answers];
    if (all.length === 1) return endOf(all.flatMap(([, answers]) => answers));
    const { output: _, ...end } = endOf(all.flatMap(([, answers]) => answers));
    const toolCalls = all.flatMap(([id, answers]) => {
      const output = shownOutput(answers);
      return output === undefined ? [] : [{ id, output }];
    });
    return toolCalls.length > 0 ? { ...end, output: { toolCalls } } : end;
  }
}

type PreToolUseAnswer = HookAnswer<'preToolUse'>;

type PreToolUse = HookInput<'preToolUse'>;

function withArguments(input: PreToolUse, { modifiedArgs }: { readonly modifiedArgs?: unknown }): PreToolUse {
  return modifiedArgs === undefined || modifiedArgs === null ? input : { ...input, toolArgs: modifiedArgs };
}

const weights = { deny: 2, ask: 1, allow: 0 } as const;

function reviewOf(answers: readonly HookAnswer<'preToolUse'>[]): CallReview {
  const opinions = answers.flatMap((answer) => {
    if ('failure' in answer)
      return answer.onFailure === 'allow' ? [] : [{ decision: 'deny' as const, reason: answer.failure }];
    const { permissionDecision: decision, permissionDecisionReason } = answer.output ?? {};
    return decision ? [{ decision, reason: permissionDecisionReason ?? undefined }] : [];
  });
  const [strongest] = opinions.toSorted((one, other) => weights[other.decision] - weights[one.decision]);
  const outputs = outputsOf(answers);
  const modified = outputs.findLast(
    ({ modifiedArgs }) => modifiedArgs !== undefined && modifiedArgs !== null,
  );
  return {
    contexts: contextsOf(outputs),
    ...(strongest && { decision: strongest.decision }),
    ...(strongest?.reason !== undefined && { reason: strongest.reason }),
    ...(modified && { modified: { arguments: modified.modifiedArgs } }),
  };
}

/** A result after hooks have seen it, and what the model reads after the results. */
export interface ReviewedResult {
  readonly result: ToolResult;
  readonly contexts: readonly string[];
}

/** Shows a result to hooks; of those that fail nothing is taken. A denied call is not shown. */
export async function reviewResult(
  hooks: Hooks,
  { toolName, arguments: toolArgs }: HookedCall,
  result: ToolResult,
  options: { readonly signal: AbortSignal; readonly readResult: (value: JsonObject) => ToolResult },
): Promise<ReviewedResult> {
  const { signal, readResult } = options;
  if (result.type === 'denied' || result.type === 'rejected') return { result, contexts: [] };
  if (result.type !== 'success') {
    const error = result.message ?? result.text;
    const answers = await hooks.run('postToolUseFailure', { toolName, toolArgs, error }, signal);
    const guidance = contextsOf(outputsOf(answers)).map(
      (text) => `Tool "${toolName}" failed. Additional guidance from postToolUseFailure hooks:\n${text}`,
    );
    return { result, contexts: guidance };
  }
  const input = { toolName, toolArgs, toolResult: shownResult(result) };
  const answers = await hooks.run('postToolUse', input, signal, withResult);
  const modified = outputsOf(answers).map(({ modifiedResult }) => resultObject(modifiedResult));
  const last = modified.findLast((each) => each !== undefined);
  const after = last ? readResult(last) : result;
  const guidance = contextsOf(outputsOf(answers));
  if (guidance.length === 0) return { result: after, contexts: [] };
  const text = `${after.text}\n\nTool "${toolName}" succeeded. Additional guidance from postToolUse hooks:\n${guidance.join('\n')}`;
  return { result: { ...after, text }, contexts: [] };
}

type PostToolUse = HookInput<'postToolUse'>;

function withResult(
  input: PostToolUse,
  { modifiedResult }: { readonly modifiedResult?: unknown },
): PostToolUse {
  const given = resultObject(modifiedResult);
  if (!given) return input;
  const { resultType, textResultForLlm } = given;
  return {
    ...input,
    toolResult: {
      ...given,
      resultType: typeof resultType === 'string' ? resultType : 'success',
      textResultForLlm: typeof textResultForLlm === 'string' ? textResultForLlm : '',
    },
  };
}

/** A text stands for a result with this text. */
function resultObject(given: unknown): JsonObject | undefined {
  if (typeof given === 'string') return { textResultForLlm: given, resultType: 'success' };
  return isObject(given) ? given : undefined;
}

function shownResult({ type, text, details, telemetry }: ToolResult): PostToolUse['toolResult'] {
  return {
    resultType: type,
    textResultForLlm: text,
    ...(details !== undefined && { sessionLog: details }),
    toolTelemetry: telemetry ?? {},
  };
}

/** What hooks want the model to read. */
export function contextsOf(
  given: readonly { readonly additionalContext?: string | null | undefined }[],
): readonly string[] {
  return given.flatMap(({ additionalContext }) => additionalContext || []);
}
