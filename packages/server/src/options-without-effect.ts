import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  builtinToolNames,
  ineffectiveFields,
  isRemoteServer,
  type Methods,
  nearestName,
  type ParsedParams,
} from '@groundcrew/protocol';

type Opening = ParsedParams<Methods['session.resume']>;
type Provider = NonNullable<Opening['provider']>;

/** What is known and has no effect all the same: another option, or what is not there, leaves it nothing to do. */
export function optionsWithoutEffect(params: Partial<Opening>): readonly string[] {
  return [...new Set([...ofSettings(params), ...ofPlaces(params)])];
}

function ofSettings(params: Partial<Opening>): readonly string[] {
  const { systemMessage, provider, providers, mcpServers, customAgents } = params;
  const isCustomized = systemMessage?.mode === 'customize';
  return [
    ...(isCustomized ? [] : useless('systemMessage', systemMessage, ['sections'], notCustomized)),
    ...switchedOff.flatMap((option) => ofSwitchedOff(option, params[option])),
    ...ofThresholds(params.infiniteSessions),
    ...named.flatMap((option) => ofRepeatedNames(option, params[option] ?? [])),
    ...ofReplacedTools(params.tools ?? []),
    ...ofOtherOptions(params),
    ...ofProvider('provider', provider ?? {}),
    ...(providers ?? []).flatMap((each) => ofProvider('providers', each)),
    ...ofServers('mcpServers', mcpServers),
    ...(customAgents ?? []).flatMap((agent) => ofServers('customAgents.mcpServers', agent.mcpServers)),
  ];
}

const notCustomized = '\'systemMessage.mode\' is not "customize".';

/** What is switched off has no use for the rest that is said of it. */
const switchedOff = ['infiniteSessions', 'largeOutput', 'toolSearch', 'sandboxConfig'] as const;

function ofSwitchedOff(
  option: string,
  given: { readonly enabled?: boolean | null | undefined } | null | undefined,
): readonly string[] {
  if (given?.enabled !== false) return [];
  return useless(option, given, Object.keys(given), `'${option}.enabled' is false.`);
}

/** What goes by its name, and which of several of one name counts. */
const counting = { tools: 'last', commands: 'last', customAgents: 'first' } as const;
const named = ['tools', 'commands', 'customAgents'] as const;

function ofRepeatedNames(
  option: keyof typeof counting,
  given: readonly { readonly name?: unknown }[],
): readonly string[] {
  const names = given.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const name of names) (seen.has(name) ? repeated : seen).add(name);
  return [...repeated]
    .slice(0, mostNames)
    .map(
      (name) =>
        `The option '${option}' has ${shown(name)} more than once: only the ${counting[option]} has an effect.`,
    );
}

/** Of one option: there may be thousands. */
const mostNames = 10;

/** Tools that say they replace what is not there; the built-in tool that was meant stays. */
function ofReplacedTools(tools: NonNullable<Opening['tools']>): readonly string[] {
  return replacing.flatMap((field) => {
    const meant = tools.filter((tool) => tool[field] === true && !isBuiltin(tool.name));
    return meant.slice(0, mostNames).flatMap(({ name }) => {
      const near = nearestName(name, builtinToolNames);
      if (near === undefined) return [];
      return [
        `The option 'tools.${field}' has no effect for ${shown(name)} (did you mean ${shown(near)}?): there is no such built-in tool.`,
      ];
    });
  });
}

const replacing = ['overridesBuiltInTool', 'actsForBuiltIn'] as const;

function isBuiltin(name: string): boolean {
  return builtinToolNames.some((each) => each === name);
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, longestPath));
}

/** A session that waits for its summary before one is made in the background never makes one there. */
function ofThresholds(given: Opening['infiniteSessions']): readonly string[] {
  const { enabled, backgroundCompactionThreshold: background, bufferExhaustionThreshold: full } = given ?? {};
  if (enabled === false || typeof background !== 'number' || typeof full !== 'number' || background <= full)
    return [];
  const because = "'infiniteSessions.bufferExhaustionThreshold' is reached first.";
  return useless('infiniteSessions', given, ['backgroundCompactionThreshold'], because);
}

/** Options that another one leaves without effect. */
function ofOtherOptions(params: Partial<Opening>): readonly string[] {
  const { enableSkills, skipCustomInstructions, provider, hooks, hookOptions } = params;
  const because = (isSo: boolean, options: readonly string[], reason: string) =>
    isSo ? useless(undefined, params, options, reason) : [];
  return [
    ...because(enableSkills === false, ['skillDirectories', 'disabledSkills'], "'enableSkills' is false."),
    ...because(
      skipCustomInstructions === true,
      ['instructionDirectories'],
      "'skipCustomInstructions' is true.",
    ),
    ...because(isGiven(provider?.baseUrl), ['providerRef'], "'provider' is given."),
    ...because(
      hooks === true && hookOptions?.types?.length === 0,
      ['hooks'],
      "'hookOptions.types' is empty.",
    ),
  ];
}

function ofProvider(option: string, provider: Partial<Provider>): readonly string[] {
  const { type, bearerToken, hasBearerTokenProvider } = provider;
  const givesTokens = hasBearerTokenProvider === true;
  return [
    ...(givesTokens
      ? useless(option, provider, ['apiKey', 'bearerToken'], `'${option}.hasBearerTokenProvider' is true.`)
      : useless(
          option,
          provider,
          isGiven(bearerToken) ? ['apiKey'] : [],
          `'${option}.bearerToken' is given.`,
        )),
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

/** Fields of an option, or options themselves, that are given all the same. */
function useless(
  option: string | undefined,
  given: object | null | undefined,
  names: readonly string[],
  because: string,
): readonly string[] {
  const path = option === undefined ? '' : `${option}.`;
  return Object.entries(given ?? {})
    .filter(([name, value]) => names.includes(name) && isGiven(value))
    .map(([name]) => `The option '${path}${name}' has no effect: ${because}`);
}

function isGiven(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isGiven);
  return value !== undefined && value !== null && value !== false && value !== '';
}

/** Directories that are not there; one of skills is looked up where skills are. */
function ofPlaces(params: Partial<Opening>): readonly string[] {
  const from = params.workingDirectory ?? '';
  return directories.flatMap((option) => {
    const looked = (params[option] ?? []).slice(0, mostLooked);
    const missing = looked.filter((path) => !isDirectory(resolve(from, path)));
    return missing.slice(0, mostMissing).map((path) => {
      return `The option '${option}' has no effect for ${shown(path)}: there is no such directory.`;
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
