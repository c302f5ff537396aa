/** What an agent may take at most; each one absent is no limit. */
export interface AgentCaps {
  /** Input and output together. */
  readonly maxTokens?: number;
  readonly maxCalls?: number;
  /** US dollars. */
  readonly maxCost?: number;
  readonly maxSeconds?: number;
}

/** An agent as apps, files and this program describe it. Plain data: a task keeps the one it was begun with. */
export interface AgentDefinition {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly prompt: string;
  /** Absent: every tool. */
  readonly tools?: readonly string[];
  /** Whether other agents may choose it by themselves. */
  readonly infer: boolean;
  readonly source: 'custom' | 'project' | 'user' | 'builtin';
  readonly path?: string;
  /** Skills whose texts it has from the start. */
  readonly skills?: readonly string[];
  readonly model?: string;
  readonly reasoningEffort?: string;
  readonly caps?: AgentCaps;
  /** The names of MCP servers of its own; what they are lives in memory only. */
  readonly mcpServers?: readonly string[];
}

/** A message that a sub-agent has not taken up yet. */
export interface TaskMessage {
  readonly messageId: string;
  readonly text: string;
}

export type TaskStatus = 'running' | 'completed' | 'failed' | 'cancelled';

/** A sub-agent and its work, from its beginning on. */
export interface AgentTask {
  readonly agentId: string;
  /** Absent: the root agent began it. */
  readonly parentAgentId?: string;
  /** The call that began it. */
  readonly toolCallId: string;
  readonly agent: AgentDefinition;
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  readonly mode: 'sync' | 'background';
  /** 1 for an agent of the root. */
  readonly depth: number;
  readonly model?: string;
  readonly reasoningEffort?: string;
  readonly status: TaskStatus;
  readonly startedAt: string;
  readonly completedAt?: string;
  /** Milliseconds that it worked before it was taken up again; what passed while no process had it does not count. */
  readonly activeMs?: number;
  /** Since when it works, where that is not its beginning. */
  readonly resumedAt?: string;
  readonly result?: string;
  readonly error?: string;
  /** Clients have received that it began. */
  readonly isAnnounced?: boolean;
  /** How many messages it has answered; beside it, its answer to the newest. */
  readonly turns?: number;
  readonly replies?: readonly string[];
  /** Its parent has read that it ended. */
  readonly isNotified?: boolean;
  readonly messages: readonly TaskMessage[];
  /** It ended so long ago that its conversation is no longer kept: it takes no messages. */
  readonly isForgotten?: true;
}

/** What changes of a task. */
export type TaskChange = Pick<AgentTask, 'agentId'> &
  Partial<
    Pick<
      AgentTask,
      'status' | 'mode' | 'completedAt' | 'result' | 'error' | 'isNotified' | 'activeMs' | 'resumedAt'
    >
  >;

/** How long an agent has worked so far. */
export function activeMilliseconds(task: AgentTask, now: number): number {
  const { activeMs = 0, startedAt, resumedAt = startedAt, status } = task;
  if (status !== 'running') return activeMs;
  return activeMs + Math.max(0, now - Date.parse(resumedAt));
}
