import {
  ineffectiveFields,
  isObject,
  isRemoteServer,
  type JsonObject,
  type JsonValue,
} from '@groundcrew/protocol';

/** Who named a server. */
export type McpServerSource = 'user' | 'workspace' | 'plugin' | 'builtin';

/** What holds for a server however it is reached. */
interface CommonConfig {
  /** Raw names of the tools that are offered; absent is all. */
  readonly tools?: readonly string[];
  readonly excludeTools?: readonly string[];
  /** How long it may take to start, and to answer a call. */
  readonly timeout?: number;
  /** The user believes what the server says of its tools. */
  readonly isTrusted: boolean;
  /** Its tools are in every request, however many there are. */
  readonly isNeverDeferred: boolean;
  readonly source: McpServerSource;
}

/** A server that is a child of the runtime. */
export interface StdioConfig extends CommonConfig {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that runs already, somewhere. */
export interface RemoteConfig extends CommonConfig {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauthClientId?: string;
  readonly oauthPublicClient?: boolean;
  readonly oauthGrantType?: 'authorization_code' | 'client_credentials';
  /** Clients that give headers are asked for them again after so long. */
  readonly headersRefreshMilliseconds?: number;
  /** The port that its authorisation server sends browsers back to. */
  readonly redirectPort?: number;
}

/** A description that leads to no server; its status says why. */
export interface InvalidConfig extends CommonConfig {
  readonly type: 'invalid';
  readonly reason: string;
}

/** How one MCP server is reached and treated. */
export type McpServerConfig = StdioConfig | RemoteConfig | InvalidConfig;

/** Reads what a client or a file says of a server. Nothing is thrown: a bad description is a server that failed. */
export function readServerConfig(raw: JsonObject, source: McpServerSource = 'user'): McpServerConfig {
  const common = commonOf(raw, source);
  const { type, command } = raw;
  if (isRemoteServer(raw)) return remoteOf(raw, common);
  if (!isAbsent(type) && type !== 'local' && type !== 'stdio')
    return invalid(
      common,
      `its type is ${JSON.stringify(type)}, and only local, stdio, http and sse are known`,
    );
  if (typeof command !== 'string' || command.trim() === '')
    return invalid(common, 'it names neither a command nor a url');
  return {
    ...common,
    type: 'stdio',
    command,
    args: textsOf(raw.args) ?? [],
    env: textMapOf(raw.env),
    ...(typeof raw.cwd === 'string' && raw.cwd !== '' && { cwd: raw.cwd }),
  };
}

/** A sentence for each part of a file's description that has no effect. */
export function ineffectiveParts(name: string, raw: JsonObject): readonly string[] {
  const kind = isRemoteServer(raw) ? 'a url' : 'a command';
  return [
    ...ineffectiveFields(raw).map(
      (field) => `'${field}' of the MCP server '${name}' has no effect: the server is ${kind}.`,
    ),
    ...ineffectiveTimeout(name, raw),
  ];
}

/** The same of the time that a server may take, which clients are not warned about elsewhere. */
export function ineffectiveTimeout(name: string, { timeout }: JsonObject): readonly string[] {
  if (typeof timeout !== 'number' || timeout > 0) return [];
  return [`'timeout' of the MCP server '${name}' has no effect: it must be more than 0 milliseconds.`];
}

function remoteOf(raw: JsonObject, common: CommonConfig): McpServerConfig {
  const { url, type } = raw;
  if (typeof url !== 'string' || !URL.canParse(url)) return invalid(common, 'its url is no URL');
  const { protocol } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:')
    return invalid(common, `its url begins with ${protocol}, and only http and https are supported`);
  const { oauthClientId, oauthPublicClient, oauthGrantType, auth } = raw;
  const redirectPort =
    typeof auth === 'object' && auth !== null && 'redirectPort' in auth && auth.redirectPort;
  return {
    ...common,
    type: type === 'sse' ? 'sse' : 'http',
    url,
    headers: textMapOf(raw.headers),
    ...(typeof oauthClientId === 'string' && { oauthClientId }),
    ...(typeof oauthPublicClient === 'boolean' && { oauthPublicClient }),
    ...((oauthGrantType === 'authorization_code' || oauthGrantType === 'client_credentials') && {
      oauthGrantType,
    }),
    ...(typeof raw.headersRefreshTtlMs === 'number' &&
      raw.headersRefreshTtlMs > 0 && { headersRefreshMilliseconds: raw.headersRefreshTtlMs }),
    ...(isPort(redirectPort) && { redirectPort }),
  };
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) < 65_536;
}

function commonOf(raw: JsonObject, source: McpServerSource): CommonConfig {
  const tools = textsOf(raw.tools);
  const excludeTools = textsOf(raw.excludeTools);
  return {
    source,
    // What comes with a project or a plugin was not written by the user.
    isTrusted: raw.trusted === true && (source === 'user' || source === 'builtin'),
    isNeverDeferred: raw.deferTools === 'never',
    ...(tools && !tools.includes('*') && { tools }),
    ...(excludeTools && { excludeTools }),
    ...(typeof raw.timeout === 'number' && raw.timeout > 0 && { timeout: raw.timeout }),
  };
}

function invalid(common: CommonConfig, reason: string): InvalidConfig {
  return { ...common, type: 'invalid', reason };
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}

function textsOf(value: JsonValue | undefined): readonly string[] | undefined {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : undefined;
}

function textMapOf(value: JsonValue | undefined): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  );
}
