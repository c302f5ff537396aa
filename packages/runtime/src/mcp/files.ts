import type { JsonObject } from '@groundcrew/protocol';
import type { McpServerSource } from './config.js';

/** A server that a file describes. */
export interface McpFileServer {
  readonly raw: JsonObject;
  readonly source: McpServerSource;
}

/** Where files are looked for. */
export interface McpPlaces {
  readonly workingDirectory: string;
  readonly configDir?: string | undefined;
  readonly pluginDirectories?: readonly string[] | undefined;
  /** The session takes what the user's and the project's files say. */
  readonly isDiscovering: boolean;
}

/** The servers that files give a session; of files that cannot be read, why. */
export type McpFiles = (places: McpPlaces) => {
  readonly servers: ReadonlyMap<string, McpFileServer>;
  readonly disabled: readonly string[];
  readonly problems: readonly string[];
  /** What of files that were read has no effect. */
  readonly warnings?: readonly string[];
};
