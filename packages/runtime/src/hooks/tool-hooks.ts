import type { ToolResult } from '../tools/tool.js';

/** A call as hooks see it. */
export interface HookedCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: unknown;
}

/** What hooks made of a call before it runs: other arguments, or why it must not run. */
export interface CallReview {
  readonly arguments?: unknown;
  readonly denial?: string;
}

/** Where hooks stand in the gate. Both sides see every call, whoever made it and whether or not its tool exists. */
export interface ToolHooks {
  /** Without any, a call passes without a pause. */
  readonly isEmpty: boolean;
  before(call: HookedCall, signal: AbortSignal): Promise<CallReview>;
  /** Sees the whole result, before it is bounded, and returns what takes its place. */
  after(call: HookedCall, result: ToolResult, signal: AbortSignal): Promise<ToolResult>;
}

/** A session without hooks. */
export const noToolHooks: ToolHooks = {
  isEmpty: true,
  before: async () => ({}),
  after: async (_call, result) => result,
};
