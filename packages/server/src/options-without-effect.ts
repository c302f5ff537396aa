import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ineffectiveFields, isRemoteServer, type Methods, type ParsedParams } from '@groundcrew/protocol';

type Opening = ParsedParams<Methods['session.resume']>;
type Provider = NonNullable<Opening['provider']>;

/** What is known and has no effect all the same: another option, or what is not there, leaves it nothing to do. */
export function optionsWithoutEffect(params: Partial<Opening>): readonly string[] {
  return [...new Set([...ofSettings(params), ...ofPlaces(params)])];
}

function ofSettings(params: Partial<Opening>): readonly string[] {
  const { systemMessage, infiniteSessions, provider, providers, mcpServers, customAgents } = params;
  const isCustomized = systemMessage?.mode === 'customize';
  const isSummarised = infiniteSessions?.enabled !== false;
  return [
    ...(isCustomized ? [] : useless('systemMessage', systemMessage, ['sections'], notCustomized)),
    ...(isSummarised ? [] : useless('infiniteSessions', infiniteSessions, thresholds, notSummarised)),
    ...ofProvider('provider', provider ?? {}),
    ...(providers ?? []).flatMap((each) => ofProvider('providers', each)),
    ...ofServers('mcpServers', mcpServers),
    ...(customAgents ?? []).flatMap((agent) => ofServers('customAgents.mcpServers', agent.mcpServers)),
  ];
}

const thresholds = ['backgroundCompactionThreshold', 'bufferExhaustionThreshold'];
const notCustomized = '\'systemMessage.mode\' is not "customize".';
const notSummarised = "'infiniteSessions.enabled' is false.";

function ofProvider(option: string, provider: Partial<Provider>): readonly string[] {
  const { type } = provider;
  return [
    ...(type === 'azure' ? [] : useless(option, provider, ['azure'], `'${option}.type' is not "azure".`)),
    ...(type === 'anthropic'
      ? useless(option, provider, ['wireApi'], `'${option}.type' "anthropic" has one wire.`)
      : []),
  ];
}

function ofServers(option: string, servers: Opening['mcpServers'] | null): readonly string[] {
  return Object.values(servers ?? {}).flatMap((server) => {
    const reached = isRemoteServer(server) ? 'reached by its url' : 'started by its command';
    return ineffectiveFields(server).map(
      (name) => `The option '${option}.${name}' has no effect: the server is ${reached}.`,
    );
  });
}

function useless(
  option: string,
  given: object | null | undefined,
  names: readonly string[],
  because: string,
) {
  return Object.entries(given ?? {})
    .filter(([name, value]) => names.includes(name) && isGiven(value))
    .map(([name]) => `The option '${option}.${name}' has no effect: ${because}`);
}

function isGiven(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== '';
}

/** Directories that are not there; one of skills is looked up where skills are. */
function ofPlaces(params: Partial<Opening>): readonly string[] {
  const from = params.workingDirectory ?? '';
  return directories.flatMap((option) => {
    const looked = (params[option] ?? []).slice(0, mostLooked);
    const missing = looked.filter((path) => !isDirectory(resolve(from, path)));
    return missing.slice(0, mostMissing).map((path) => {
      const shown = JSON.stringify(path.slice(0, longestPath));
      return `The option '${option}' has no effect for ${shown}: there is no such directory.`;
    });
  });
}

const directories = ['instructionDirectories', 'pluginDirectories', 'additionalDirectories'] as const;
const mostLooked = 100;
const mostMissing = 10;
const longestPath = 200;

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    // A path that cannot be looked up, such as one with a NUL, is none.
    return false;
  }
}
