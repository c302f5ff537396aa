import type { Price } from '@groundcrew/models';
import type { Owner, SessionStore, StoreError } from '@groundcrew/store';
import type { AgentHost } from '../agents/agent-contexts.js';
import type { SubAgentHost } from '../agents/sub-agent-run.js';
import type { Clock } from '../clock.js';
import type { SessionCommands } from '../commands/session-commands.js';
import type { JobRunner } from '../exec/workers.js';
import type { HookFilesReader } from '../hooks/hook-files.js';
import type { LogReaders } from '../log/log-readers.js';
import type { PublishedEvent } from '../log/published-event.js';
import type { McpFiles } from '../mcp/files.js';
import type { ApprovalBook } from '../permissions/approval-book.js';
import type { UserRules } from '../permissions/user-rules.js';
import type { SkillEnvironment } from '../skills/session-skills.js';
import type { Observer } from '../telemetry/observer.js';
import type { Clients } from '../tools/builtin.js';
import type { SessionShells } from '../tools/shell/shells.js';
import type { Tool } from '../tools/tool.js';
import type { TurnLimits } from '../turn/agent-context.js';
import type { Audience } from './audience.js';

/** What a runtime gives to each of its sessions, without the settings of the session itself. */
export interface SessionEnvironment extends SkillEnvironment {
  readonly store: SessionStore;
  readonly audience: Audience;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly limits: TurnLimits;
  readonly version: string;
  readonly builtinTools: (clients: Clients) => readonly Tool[];
  readonly shells: SessionShells;
  readonly jobs: JobRunner;
  /** What users approved for good in this home. */
  readonly book: ApprovalBook;
  userRules(): UserRules;
  /** MCP servers of files; without it there are none. */
  readonly mcpFiles?: McpFiles;
  /** Reads the hooks of files; without it there are none. */
  readonly hookFiles?: HookFilesReader;
  priceOf(model: string): Promise<Price | undefined>;
  /** Where the session keeps its files. */
  readonly workspacePath: string;
  /** Watches the work, where telemetry is on. */
  readonly observer?: Observer;
  /** Receives what all clients receive, before them. */
  onPublished(published: PublishedEvent): void;
}

/** What a conversation needs of the session around it. */
export interface ConversationHost extends AgentHost {
  readonly audience: Audience;
  /** Watches the work, where telemetry is on. */
  readonly observer?: Observer | undefined;
  readonly readers: LogReaders;
  readonly commands: SessionCommands;
  readonly agents: Pick<SubAgentHost, 'settings' | 'skillsOf' | 'serversOf'>;
  /** A call waits for the session's hooks: without a client the session may be unloaded. */
  held(): void;
  /** The store failed: true when the session goes on from its log at another node, or here again. */
  leaves(error: StoreError): boolean;
  /** Another process has the session now, or its store is gone: this copy is void. */
  lost(error: StoreError): void;
}
