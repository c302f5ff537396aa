import type { Price } from '@groundcrew/models';
import type { Owner, SessionStore, SharedBook, WithFileLock } from '@groundcrew/store';
import type { Clock } from './clock.js';
import type { JobRunner } from './exec/workers.js';
import type { HookFilesReader } from './hooks/hook-files.js';
import type { McpFiles } from './mcp/files.js';
import type { UserRulesReader } from './permissions/user-rules.js';
import type { ModelAccess, ModelSeams, SessionSettings } from './settings/session-settings.js';
import type { Observer } from './telemetry/observer.js';
import type { Clients } from './tools/builtin.js';
import type { Shells } from './tools/shell/shells.js';
import type { Tool } from './tools/tool.js';
import type { TurnLimits } from './turn/agent-context.js';

/** One place where sessions are kept: a store and the directories beside it. */
export interface Home {
  readonly directory: string;
  readonly store: SessionStore;
}

/** What a runtime that is one of several nodes needs of the others. */
export interface ClusterSeams {
  /** Another node has the session: its clients go on there. */
  moved(sessionId: string): void;
  /** Gives up a session with work, so that another node takes it at once. */
  handOver(claim: { readonly sessionId: string; readonly epoch: number }): Promise<void>;
  /** The approvals that all nodes go by. */
  readonly book: SharedBook;
}

/** What a runtime is built from. */
export interface RuntimeOptions {
  /** The home of sessions that name none, and of those that name a `configDir`. */
  home(configDir?: string): Home;
  /** The directory of the home of sessions that name none. */
  readonly homeDirectory: string;
  openModels(settings: SessionSettings, seams: ModelSeams): Promise<ModelAccess>;
  builtinTools(clients: Clients): readonly Tool[];
  readonly shells: Shells;
  /** Where work goes that could take long. */
  readonly jobs: JobRunner;
  /** What a model costs, where that is known; without it no price is. */
  priceOf?(model: string): Promise<Price | undefined>;
  /** The user's own rules, for every session of this process. */
  readonly userRules: UserRulesReader;
  /** MCP servers of files; without it there are none. */
  readonly mcpFiles?: McpFiles;
  /** Reads the hooks of files; without it there are none. */
  readonly hookFiles?: HookFilesReader;
  readonly withFileLock: WithFileLock;
  readonly owner: Owner;
  readonly clock: Clock;
  readonly version: string;
  readonly limits: TurnLimits;
  /** Watches the work of all sessions, where telemetry is on. */
  readonly observer?: Observer;
  /** What of a session's life concerns other nodes; without it there are none. */
  readonly cluster?: ClusterSeams;
  /** Sessions idle for so long are unloaded; 0 means never. */
  readonly sessionIdleSeconds: number;
}
