import type { AnswerStyle } from '@groundcrew/models';
import type { JsonObject } from '@groundcrew/protocol';
import type { SandboxSettings } from '../exec/sandbox-settings.js';
import type { HostingSettings } from '../workspace/hosted-files.js';
import type { GuardPoint } from './recorded-guard.js';

/** What the session itself keeps of its settings; everything else comes with the client that opens it. */
export interface FixedSettings {
  readonly name: string;
  readonly isNamedByUser: boolean;
  readonly clientName: string;
  /** It was given a model service of its own, which is not stored. */
  readonly hasProvider: boolean;
  /** What its other model services are called. */
  readonly providerNames: readonly string[];
  /** What the MCP servers are called that clients gave it; their settings are not stored. */
  readonly mcpServerNames: readonly string[];
  /** What the service is called that each node has in a file of its own. */
  readonly providerRef: string;
  /** What a node must have to work on the session. */
  readonly nodeLabels: readonly string[];
  /** It was given a GitHub token of its own. */
  readonly hasGitHubToken: boolean;
  /** It keeps a directory of its own; so does one that says nothing of it. */
  readonly hasWorkspace: boolean;
  /** What clients keep with the session, by names of their own. */
  readonly clientMetadata: Readonly<Record<string, string>>;
  /** Where a client keeps the session's files. */
  readonly hosting: HostingSettings;
  /** The only models that it may call; null: any. */
  readonly allowedModels: readonly string[] | null;
  /** Another model may answer whenever one is rate limited; no user is asked again. */
  readonly switchesModels: boolean;
  /** Some client had hooks: while none is attached, no call runs unasked. */
  readonly hasHooks: boolean;
  /** What their hooks decide about. */
  readonly guardedPoints: readonly GuardPoint[];
  /** What tools write can be taken back. */
  readonly tracksFiles: boolean;
  /** Hooks of files are run. */
  readonly fileHooks: boolean;
  /** What a hook said the session was about. */
  readonly summary: string;
  /** How much answers say, and what is shown of thoughts. */
  readonly style: AnswerStyle;
  /** Where commands run. */
  readonly sandbox: SandboxSettings;
  /** Where the app said that skills are. */
  readonly skillDirectories: readonly string[];
  /** Skills that the app does not want. */
  readonly disabledSkills: readonly string[];
  /** Agents that the app described, less the settings of their servers. */
  readonly customAgents: readonly JsonObject[];
  /** What holds for sub-agents, as the app said it; null for what holds otherwise. */
  readonly subagents: JsonObject | null;
  /** Skills that were switched on or off since. */
  readonly skillSwitches: Readonly<Record<string, boolean>>;
}
