import { isDeepStrictEqual } from 'node:util';
import { ModelError, type ModelProvider } from '@groundcrew/models';
import { isObject, type JsonObject } from '@groundcrew/protocol';
import type { FixedSettings } from '../log/fixed-settings.js';
import {
  type NamedProvider,
  type ProviderSettings,
  type RegistryModel,
  withCapabilities,
} from './provider-config.js';
import type { SessionSettings } from './session-settings.js';

const defaultProviderName = 'default';

/** Names and changes of a session's model services, as the wire and the choice of models need them. */
export const providerSettings = {
  /** The name of the service that has none. */
  defaultName: defaultProviderName,
  selectionId,
  withCapabilities,
  withChanges: withProviderChanges,
  withRegistry,
  withoutModels,
  withoutWireModel,
  missingSecret,
} as const;

/** Services and models cannot be put together as a client wants it. */
class InvalidProvider extends Error {
  override readonly name = 'InvalidProvider';
}

/** How a model of a named service is chosen. */
function selectionId({ provider, id }: Pick<RegistryModel, 'provider' | 'id'>): string {
  return `${provider}/${id}`;
}

/** The settings with what a client changes of a service; what it leaves out stays. Throws InvalidProvider. */
function withProviderChanges(settings: SessionSettings, changes: ProviderSettings): SessionSettings {
  const { providerName, ...rest } = changes;
  const { providers = [] } = settings;
  const named = providers.find(({ name }) => name === providerName);
  if (!named && (providerName === undefined || providerName === defaultProviderName))
    return { ...settings, provider: changed(settings.provider ?? {}, rest) };
  if (!named) throw new InvalidProvider(`The session has no provider named ${JSON.stringify(providerName)}`);
  const update = { ...named, ...changed(named, rest), baseUrl: rest.baseUrl ?? named.baseUrl };
  return { ...settings, providers: providers.map((each) => (each === named ? update : each)) };
}

/** The settings with more named services and models; the same name again replaces. Throws InvalidProvider. */
function withRegistry(
  settings: SessionSettings,
  added: { readonly providers?: readonly NamedProvider[]; readonly models?: readonly RegistryModel[] },
): SessionSettings {
  const providers = new Map((settings.providers ?? []).map((each) => [each.name, each]));
  const models = new Map((settings.models ?? []).map((each) => [selectionId(each), each]));
  checkTwice((added.providers ?? []).map(({ name }) => `provider ${JSON.stringify(name)}`));
  checkTwice((added.models ?? []).map((each) => `model ${JSON.stringify(selectionId(each))}`));
  for (const each of added.providers ?? []) providers.set(checkedName(each).name, each);
  for (const each of added.models ?? []) {
    if (!providers.has(each.provider))
      throw new InvalidProvider(
        `The model ${JSON.stringify(each.id)} names a provider ${JSON.stringify(each.provider)} that the session does not have`,
      );
    models.set(selectionId(each), each);
  }
  if (providers.has(defaultProviderName) && settings.provider?.baseUrl)
    throw new InvalidProvider(`"${defaultProviderName}" is the name of the session's own provider`);
  if (providers.size === 0) return settings;
  return { ...settings, providers: [...providers.values()], models: [...models.values()] };
}

/** The settings without these models, by their selection ids, and without services that lose their last one. */
function withoutModels(
  settings: SessionSettings,
  ids: readonly string[],
): {
  readonly settings: SessionSettings;
  readonly withdrawn: readonly string[];
  readonly removed: readonly string[];
} {
  const { models = [], providers = [] } = settings;
  const gone = models.filter((each) => ids.includes(selectionId(each)));
  const left = models.filter((each) => !gone.includes(each));
  const isOver = ({ name }: NamedProvider) =>
    gone.some((each) => each.provider === name) && !left.some((each) => each.provider === name);
  const removed = providers.filter(isOver);
  return {
    settings: { ...settings, models: left, providers: providers.filter((each) => !removed.includes(each)) },
    withdrawn: gone.map(selectionId),
    removed: removed.map(({ name }) => name),
  };
}

/** The settings for another model: the name a service knew the old one by goes with it. */
function withoutWireModel(settings: SessionSettings): SessionSettings {
  if (!settings.provider) return settings;
  const { wireModel: _, modelId: __, ...provider } = settings.provider;
  return { ...settings, provider };
}

/** What of the session's services may be stored: that they are there, and what they are called. */
export function fixedProviders(settings: SessionSettings): Partial<FixedSettings> {
  const { provider, providers = [], gitHubToken, providerRef, nodeLabels } = settings;
  return {
    ...(providerRef !== undefined && { providerRef }),
    ...(nodeLabels && { nodeLabels }),
    hasProvider: provider?.baseUrl !== undefined,
    ...(providers.length > 0 && { providerNames: providers.map(({ name }) => name) }),
    ...(gitHubToken !== undefined && { hasGitHubToken: true }),
  };
}

/** What a session has to remember that it did not before; nothing if there is nothing. */
export function newlyFixed(
  before: Partial<FixedSettings>,
  settings: SessionSettings,
): Partial<FixedSettings> | undefined {
  const { hasProvider, providerNames = [], hasGitHubToken } = fixedProviders(settings);
  const known = before.providerNames ?? [];
  const names = providerNames.filter((name) => !known.includes(name));
  const { hasWorkspace, sandbox, fileHooks, tracksFiles, skillDirectories, disabledSkills } = settings;
  const agents = settings.customAgents?.map(storedAgent);
  const style = { ...before.style, ...settings.style };
  const fresh = {
    ...(hasWorkspace !== undefined && hasWorkspace !== (before.hasWorkspace ?? true) && { hasWorkspace }),
    ...(isOther(settings.hosting, before.hosting) && { hosting: settings.hosting }),
    ...(sandbox && !isDeepStrictEqual(sandbox, before.sandbox) && { sandbox }),
    ...(settings.style && isOther(style, before.style) && { style }),
    ...(fileHooks !== undefined && fileHooks !== (before.fileHooks ?? false) && { fileHooks }),
    ...(tracksFiles !== undefined && tracksFiles !== (before.tracksFiles ?? false) && { tracksFiles }),
    ...(isOther(agents, before.customAgents) && { customAgents: agents }),
    ...(isOther(settings.subagents, before.subagents ?? undefined) && { subagents: settings.subagents }),
    ...(isOther(skillDirectories, before.skillDirectories) && { skillDirectories }),
    ...(isOther(disabledSkills, before.disabledSkills) && { disabledSkills, skillSwitches: {} }),
    ...(isOther(settings.providerRef, before.providerRef) && { providerRef: settings.providerRef }),
    ...(isOther(settings.nodeLabels, before.nodeLabels) && { nodeLabels: settings.nodeLabels }),
    ...(hasProvider && !before.hasProvider && { hasProvider }),
    ...(hasGitHubToken && !before.hasGitHubToken && { hasGitHubToken }),
    ...(names.length > 0 && { providerNames: [...known, ...names] }),
    ...(isOther(serverNames(settings), before.mcpServerNames ?? []) && {
      mcpServerNames: serverNames(settings),
    }),
  };
  return Object.keys(fresh).length === 0 ? undefined : fresh;
}

/** What the MCP servers are called that clients gave a session. */
export function serverNames({ mcpServers = {} }: SessionSettings): readonly string[] {
  return Object.keys(mcpServers).toSorted();
}

/** An agent less what may be secret: the settings of its servers. */
export function storedAgent(agent: JsonObject): JsonObject {
  const { mcpServers, owner: _, ...rest } = agent;
  const names = isObject(mcpServers) ? Object.keys(mcpServers) : [];
  return {
    ...rest,
    ...(names.length > 0 && { mcpServers: Object.fromEntries(names.map((name) => [name, {}])) }),
  };
}

/** A setting that is named, and is not what it was. */
function isOther<T>(given: T | undefined, before: T | undefined): given is T {
  return given !== undefined && !isDeepStrictEqual(given, before);
}

/** What a session was given once, was not stored, and has to be given again before this model can be called. */
export function missingSecret(
  fixed: Partial<FixedSettings>,
  settings: SessionSettings,
  model: string,
): string | undefined {
  const name = fixed.providerNames?.find((each) => model.startsWith(`${each}/`));
  if (name !== undefined) {
    if (settings.providers?.some((each) => each.name === name)) return undefined;
    return `The model ${model} is of the provider "${name}", and keys are not stored: give the providers and models again on session.resume.`;
  }
  if (settings.provider?.baseUrl !== undefined) return undefined;
  if (fixed.hasProvider)
    return 'This session has a model provider of its own, and keys are not stored: give the provider again on session.resume.';
  if (fixed.hasGitHubToken && settings.gitHubToken === undefined)
    return 'This session has a GitHub token of its own, and tokens are not stored: give gitHubToken again on session.resume.';
  return undefined;
}

/** Who names one sort of authentication does not mean the others any more. */
function changed(before: ProviderSettings, changes: ProviderSettings): ProviderSettings {
  const isAuthenticated = authentication.some((field) => changes[field] !== undefined);
  const kept = Object.entries(before).filter(
    ([field]) => !isAuthenticated || !authentication.some((each) => each === field),
  );
  return { ...Object.fromEntries(kept), ...changes };
}

const authentication = ['apiKey', 'bearerToken', 'hasBearerTokenProvider'] as const;

function checkedName(provider: NamedProvider): NamedProvider {
  const { name, baseUrl } = provider;
  if (name === '' || name.includes('/'))
    throw new InvalidProvider(
      `${JSON.stringify(name)} is no name for a provider: it may not be empty or contain a slash`,
    );
  if (!baseUrl)
    throw new InvalidProvider(
      `Invalid configuration of the provider ${JSON.stringify(name)}: missing field \`baseUrl\``,
    );
  return provider;
}

function checkTwice(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new InvalidProvider(`The ${twice} is named twice`);
}

/** Keys are not stored: a session with a service of its own waits for a client that names it again. */
export function awaitedProvider(reason: string): ModelProvider {
  return {
    id: 'none',
    models: async () => [],
    // biome-ignore lint/correctness/useYield: there is nothing to say before it fails
    async *stream() {
      throw new ModelError('configuration', reason);
    },
  };
}
