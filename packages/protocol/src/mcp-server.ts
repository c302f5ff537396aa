import type { JsonObject, JsonValue } from './json.js';

/** Whether a description of an MCP server leads to one that runs already, by its url. */
export function isRemoteServer({ type, command, url }: JsonObject): boolean {
  if (!isNothing(type)) return type === 'sse' || isHttp(type);
  return isNothing(command) && !isNothing(url);
}

/** The fields of a description that have no effect, because its server is reached in the other way. */
export function ineffectiveFields(server: JsonObject): readonly string[] {
  const others = isRemoteServer(server) ? ofCommands : ofUrls;
  return Object.keys(server).filter((name) => others.has(name) && !isEmpty(server[name]));
}

/** Other programs write it in these ways. */
function isHttp(type: JsonValue | undefined): boolean {
  return type === 'http' || type === 'streamable-http' || type === 'streamableHttp';
}

const ofCommands: ReadonlySet<string> = new Set(['command', 'args', 'env', 'cwd']);
const ofUrls: ReadonlySet<string> = new Set([
  'url',
  'headers',
  'oauthClientId',
  'oauthPublicClient',
  'oauthGrantType',
  'auth',
  'headersRefreshTtlMs',
]);

/** Clients write what they have no value for as nothing, or as something empty. */
function isEmpty(value: JsonValue | undefined): boolean {
  const isBare = typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return isNothing(value) || value === false || isBare;
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '';
}
