import type { JsonObject, Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import type { Access } from './access.js';
import type { ClientStart } from './dialect/client-dialect.js';
import type { ExtensionHost } from './extensions.js';
import type { Routing } from './routing.js';

/** The user's MCP servers, and those that are switched off. */
interface McpContents {
  readonly servers: Readonly<Record<string, JsonObject>>;
  readonly disabled: readonly string[];
}

/** The file of the user's MCP servers. */
export interface McpConfig {
  /** Throws what is wrong with the file, and where. */
  read(): McpContents;
  /** One change at a time, among all processes. */
  change(change: (before: McpContents) => McpContents): Promise<void>;
  /** What a session in a directory would have. */
  discover(workingDirectory: string): Result<Methods['mcp.discover']>['servers'];
}

/** The user's settings that clients may read and change. */
export interface UserSettings {
  read(): Promise<Result<Methods['user.settings.get']>['settings']>;
  /** Writes them, `null` taking one out; resolves with those that the environment overrules. Throws what is wrong. */
  change(settings: Readonly<Record<string, unknown>>): Promise<readonly string[]>;
}

type Plugin = Result<Methods['plugins.list']>['plugins'][number];

/** A plugin and where it lies. */
export interface InstalledPlugin {
  readonly plugin: Plugin;
  readonly directory: string;
}

/** The plugins of the home. What is wrong is thrown. */
export interface Plugins {
  list(): Promise<Plugin[]>;
  installed(): Promise<readonly InstalledPlugin[]>;
  /** Directories of those that new sessions have, and of their skills. */
  enabled(): Promise<{ readonly plugins: readonly string[]; readonly skills: readonly string[] }>;
  install(source: string, workingDirectory: string): Promise<Result<Methods['plugins.install']>>;
  uninstall(name: string, directSourceId: string | undefined): Promise<void>;
  update(name: string): Promise<Result<Methods['plugins.update']>>;
  updateAll(): Promise<Result<Methods['plugins.updateAll']>['results']>;
  switch(names: readonly string[], enabled: boolean): Promise<void>;
  marketplaces(): Promise<Result<Methods['plugins.marketplaces.list']>['marketplaces']>;
  addMarketplace(source: string, workingDirectory: string): Promise<string>;
  removeMarketplace(
    name: string,
    options: { readonly force: boolean },
  ): Promise<Result<Methods['plugins.marketplaces.remove']>>;
  browse(name: string): Promise<Result<Methods['plugins.marketplaces.browse']>['plugins']>;
  refresh(name: string | undefined): Promise<Result<Methods['plugins.marketplaces.refresh']>['results']>;
}

/** One user of a GitHub host. */
export interface KnownUser {
  readonly host: string;
  readonly login: string;
}

/** The GitHub accounts that clients logged in with. */
export interface Accounts {
  /** What the process shows to GitHub; `login` where it is known. */
  readonly shown:
    | { readonly source: 'token' | 'env' | 'user'; readonly host?: string; readonly login?: string }
    | undefined;
  users(): readonly KnownUser[];
  /** Of a user who has logged in. */
  tokenOf(user: KnownUser): string | undefined;
  login(user: { readonly host: string; readonly login?: string; readonly token: string }): Promise<void>;
  /** True when others are still logged in. */
  logout(user: KnownUser): Promise<boolean>;
}

/** What hooks files hold. */
export interface FoundHooks {
  readonly hooks: readonly {
    readonly hookType: string;
    /** The file and the line. */
    readonly source: string;
    /** What is run, and how. */
    readonly content: string;
  }[];
  readonly problems: readonly string[];
}

/** The hooks files of this machine. */
export interface HookDiscovery {
  /** Every session runs them. */
  readonly isAlwaysOn: boolean;
  /** Those of the user, as they would run in a directory. */
  ofUser(workingDirectory: string): FoundHooks;
  ofProject(projectPath: string): FoundHooks;
}

/** What the server is given by the program it is part of. */
export interface ServerEnvironment {
  readonly version: string;
  /** Every connection must show it; without one, none is asked for. */
  readonly connectionToken?: string;
  /** Where the process was started: the directory of sessions that name none. */
  readonly workingDirectory: string;
  /** Where the user's own instructions stand. */
  readonly homeDirectory: string;
  /** Warnings for every session about how the program was started, such as a setting without effect. */
  readonly warnings?: readonly string[];
  /** What the start of the process says of the clients that come. */
  readonly clients?: ClientStart;
  /** Sessions read no instructions from files unless they ask for them. */
  readonly skipsInstructions?: boolean;
  /** Where requests for sessions go; without it every session is here. */
  readonly routing?: Routing;
  /** Looks on what clients ask for: quotas and audit; nothing does without. */
  readonly access?: Access;
  /** Takes down the methods that clients ask for. */
  readonly used?: { add(method: string): void };
  authStatus(): Result<Methods['auth.getStatus']>;
  /** What one may choose from: in a session, or with a token. */
  listModels(request: {
    readonly gitHubToken?: string;
    readonly session?: Session;
  }): Promise<Result<Methods['models.list']>['models']>;
  /** Hooks files; without it there are none. */
  readonly hookFiles?: HookDiscovery;
  /** The user's MCP servers; without it there is no file of them. */
  readonly mcpConfig?: McpConfig;
  /** How extensions are started; absent where the operator does not let them run. */
  readonly extensions?: ExtensionHost;
  /** The plugins of the home; without it there are none. */
  /** Loaded when they are first asked about. */
  plugins?(): Promise<Plugins>;
  /** The user's settings; without it there are none. */
  readonly userSettings?: UserSettings;
  /** The user that is logged in at GitHub; without it no user can be. */
  readonly accounts?: Accounts;
  /** Covers secrets in what is written for those who look for a fault; without it nothing is known to be secret. */
  redactor?(): { text(text: string): string; value(value: unknown): unknown };
  /** Covers values in the diagnostics of the process; absent where clients may not ask for it. */
  addSecrets?(values: readonly string[]): void;
  /** Looks up users of GitHub; without it none is known. */
  readonly gitHub?: {
    /** Whose token a session shows; its own if it has one. */
    status(sessionToken: string | undefined): Promise<Result<Methods['session.gitHubAuth.getStatus']>>;
    /** The quotas of the user that a token belongs to; the runtime's own unless another is given. */
    quota(token: string | undefined): Promise<Result<Methods['account.getQuota']>['quotaSnapshots']>;
  };
  /** Closes everything; the program ends by itself once the answer has left. */
  shutdown(): Promise<void>;
}
