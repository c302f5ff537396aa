import { reportError } from '../hooks/error-hooks.js';
import type { HookGuard } from '../hooks/guard.js';
import type { Hooks } from '../hooks/hooks.js';
import { type McpReview, reviewMcpCall } from '../hooks/mcp-hooks.js';
import { type CallReview, CallReviews, type ReviewedResult, reviewResult } from '../hooks/tool-hooks.js';
import { TurnAborted } from '../interruption.js';
import type { AgentLog } from '../log/agent-log.js';
import type { PermissionQuestion } from '../permissions/question.js';
import { resultOfObject } from '../tools/external.js';
import type { McpCall, ToolResult } from '../tools/tool.js';
import { type CallToRun, modifiedCall, type Passage } from './call.js';
import type { Asking, GatePermissions } from './call-permissions.js';

/** A call of which hooks are asked, be it a turn's or not. */
type Hooked = Omit<Passage, 'turn'>;

/** What came of the hooks before a call: why it must not run, or how it goes on. */
export type Reviewed<P extends Hooked = Passage> =
  | { readonly denial: string }
  | {
      readonly passage: P;
      readonly asking: Asking;
      /** What a hook wants the user to be asked. */
      readonly question?: PermissionQuestion;
    };

/** Where the gate puts calls and their results to hooks, and holds them while the session's guard is away. */
export class CallHooks {
  constructor(
    private readonly parts: {
      readonly log: AgentLog;
      readonly hooks: Hooks;
      readonly guard: HookGuard;
      readonly permissions: GatePermissions;
    },
  ) {}

  /** One record for the hooks of all calls of a message. */
  reviewsOf(calls: readonly CallToRun[]): Pick<Passage, 'reviews'> {
    const { hooks } = this.parts;
    return hooks.has('preToolUse') ? { reviews: new CallReviews(hooks, calls.map(hookedCall)) } : {};
  }

  /** What hooks make of a call before anything else looks at it; also of one whose tool does not exist. */
  async review<P extends Hooked>(passage: P): Promise<Reviewed<P>> {
    const { hooks, guard, permissions } = this.parts;
    const { call, original, signal } = passage;
    const held = { toolCallId: call.toolCallId, hookType: 'preToolUse' } as const;
    const mustWait = () => guard.isAway && !permissions.policy().canAsk;
    for (let { reviews } = passage; ; reviews = undefined) {
      while (mustWait()) await guard.change(held, signal);
      if (!reviews && !hooks.has('preToolUse'))
        return {
          passage: { ...passage, isUnguarded: guard.isAway },
          asking: guard.isAway ? 'always' : 'as the policy says',
        };
      reviews ??= new CallReviews(hooks, [hookedCall(original)]);
      const review = await reviews.review(hookedCall(original), signal);
      // mutation: run what a hook denies
      if (review.decision === 'deny')
        return { denial: `Denied by preToolUse hook: ${review.reason ?? 'No reason provided'}` };
      // Hooks that left while others decided are waited for, and the others asked again.
      if (!mustWait()) return this.reviewed(passage, review);
    }
  }

  private reviewed<P extends Hooked>(passage: P, review: CallReview): Reviewed<P> {
    const { call, original } = passage;
    const { decision, reason, modified } = review;
    this.keepReview(original, review);
    const changed = modifiedCall({ ...original, granted: call.granted ?? [] }, modified);
    const question = decision === 'ask' ? { question: hookQuestion(changed, reason) } : {};
    const asking = decision ? 'never' : 'as the policy says';
    const isUnguarded = this.parts.guard.isAway;
    return {
      passage: { ...passage, call: changed, isUnguarded },
      asking: isUnguarded ? 'always' : asking,
      ...question,
    };
  }

  /** What hooks made of a call is a record before anything else happens to it. */
  private keepReview(
    { toolCallId, arguments: written }: CallToRun,
    { modified, contexts }: Pick<CallReview, 'modified' | 'contexts'>,
  ): void {
    const { log } = this.parts;
    const open = log.latest.calls.find((each) => each.toolCallId === toolCallId);
    // No model made it: nothing of it is in the history.
    if (!open) return;
    if (contexts.length > 0) {
      const texts = contexts.map((text) => `Additional context from preToolUse hook:\n${text}`);
      log.append({ note: 'call.context', data: { toolCallId, source: 'preToolUse', texts } });
    }
    // Hooks that were asked again may have changed their mind.
    const change = modified ?? (open.modified && { arguments: written });
    if (change) log.append({ note: 'call.modified', data: { toolCallId, ...change } });
  }

  /** A tool that asks nothing is asked about while the session's guard is away, or when it was away as hooks were asked. */
  guardQuestion({ call, isUnguarded = false }: Hooked): PermissionQuestion | undefined {
    if (!isUnguarded && !this.parts.guard.isAway) return undefined;
    return hookQuestion(call, 'The client whose hooks guard this session is not attached.');
  }

  /** Hooks see a call of an MCP server's tool once more, right before it leaves; it waits for those that left meanwhile. */
  async reviewLeaving({ call, signal, isUnguarded }: Hooked, mcpCall: McpCall): Promise<McpReview> {
    const { toolCallId } = call;
    const { guard } = this.parts;
    const held = { toolCallId, hookType: 'preMcpToolCall' } as const;
    while (guard.isAwayForServers && !isUnguarded) await guard.change(held, signal);
    return reviewMcpCall(this.parts.hooks, { ...mcpCall, toolCallId }, signal);
  }

  /** Shows a result to hooks; it waits for them while the session's guard is away. */
  async reviewResult({ call, signal }: Passage, result: ToolResult): Promise<ReviewedResult> {
    const options = { signal, readResult: resultOfObject };
    return reviewResult(this.parts.hooks, hookedCall(call), result, options);
  }

  /** Resolves when a result may be shown to hooks and clients. */
  async release(passage: Passage, result: ToolResult): Promise<void> {
    const held = { toolCallId: passage.call.toolCallId, hookType: 'postToolUse' } as const;
    while (this.isHeldBack(passage, result)) await this.parts.guard.change(held, passage.signal);
  }

  /** A result that hooks would have seen waits for them: a guard that is gone guards still. */
  isHeldBack({ isUnguarded = false }: Passage, result: ToolResult): boolean {
    return this.parts.guard.isAwayForResults && !isUnguarded && !isRefused(result);
  }

  /** Whether hooks want a call that ran and failed to be run once more; they may end the turn, too. */
  async mayTryAgain({ call, signal }: Passage, result: ToolResult): Promise<boolean> {
    const attempts = this.attemptsOf(call.toolCallId);
    if (result.type === 'success' || isRefused(result) || attempts === 0) return false;
    const error = result.message ?? result.text;
    const input = { error, errorContext: 'tool_execution', recoverable: true };
    const { action, retryCount } = await reportError(this.parts.hooks, input, signal);
    if (action === 'abort') throw new TurnAborted('user_abort');
    return action === 'retry' && attempts <= retryCount;
  }

  /** How often a call was allowed to happen so far. */
  attemptsOf(toolCallId: string): number {
    return this.parts.log.latest.calls.find((each) => each.toolCallId === toolCallId)?.attempts ?? 0;
  }
}

function hookQuestion(call: CallToRun, reason: string | undefined): PermissionQuestion {
  const message = reason === undefined ? {} : { hookMessage: reason };
  return { request: { kind: 'hook', toolName: call.name, toolArgs: call.arguments, ...message } };
}

/** It has not run: there is nothing that hooks would see. */
function isRefused({ type }: ToolResult): boolean {
  return type === 'denied' || type === 'rejected';
}

function hookedCall({ toolCallId, name: toolName, arguments: given }: CallToRun) {
  return { toolCallId, toolName, arguments: given };
}
