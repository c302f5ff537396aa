import {
  configuredProvider,
  type Environment,
  type Exchange,
  ModelError,
  type ModelInfo,
  type ProviderConfig,
  type RetryOptions,
  standardRetryPolicy,
  type TimeLimits,
} from '@groundcrew/models';
import { offlineInfo, offlineModel, type ThinkElsewhere } from '@groundcrew/offline-model';
import {
  isSecretOfRuntime,
  type ModelAccess,
  type ModelSeams,
  type ProviderSettings,
  providerSettings,
  type SessionSettings,
} from '@groundcrew/runtime';
import { AmbientModels, type AmbientSources, type ModelCallSettings } from './ambient-models.js';
import { CopilotAccess } from './copilot-access.js';
import type { GitHubUser, GitHubUsers } from './git-hub-user.js';
import { withOtherModels } from './other-models.js';
import { type OwnServiceSources, ownService } from './own-service.js';

/** The GitHub token of the process. */
interface ProcessToken {
  readonly value: string;
  /** A client gave it, or a user logged in: it means the Copilot API whatever else the environment names. */
  readonly isGiven: boolean;
}

export interface ModelSources {
  /** Shared, so that connections are. */
  readonly exchange: Exchange;
  /** What is not a model call is never made by a client. */
  readonly directExchange?: Exchange;
  readonly environment: Environment;
  readonly version: string;
  /** The GitHub token of the process, if it has one. */
  token?(): ProcessToken | undefined;
  /** Settings that name services for sessions that bring none; without it, none does. */
  readonly readSettings?: AmbientSources['readSettings'];
  /** Variables that headers of a client's provider may name, besides those of the settings. */
  readonly clientHeaderVariables?: readonly string[];
  /** Where the offline model thinks about what is long. */
  readonly thinkElsewhere?: ThinkElsewhere;
}

/** Finds the model service of a session: its own, else that of the settings, else that of the environment, else none. */
export class ModelDirectory {
  private readonly copilot = new Map<string, CopilotAccess>();
  private readonly offline: ModelAccess;

  private readonly ambient: AmbientModels | undefined;
  private users: Promise<GitHubUsers> | undefined;
  private callSettings: ModelCallSettings = {};

  constructor(private readonly sources: ModelSources) {
    const { environment, readSettings } = sources;
    this.offline = offlineAccess(sources.thinkElsewhere);
    if (readSettings !== undefined)
      this.ambient = new AmbientModels({
        environment,
        readSettings,
        open: (provider) => ownService(provider, this.operators),
      });
  }

  async open(settings: SessionSettings, seams: ModelSeams): Promise<ModelAccess> {
    const { provider, providers, models = [], model } = settings;
    if (!providers) return this.main(settings, provider, seams);
    const isNamed = models.some((each) => providerSettings.selectionId(each) === model);
    const base = await this.main(isNamed ? withoutModel(settings) : settings, provider, seams);
    const { withRegistryModels } = await import('./model-registry.js');
    return withRegistryModels(base, settings, { own: this.own, seams });
  }

  /** The service that a session has without naming others. */
  private async main(
    settings: SessionSettings,
    provider: ProviderSettings | undefined,
    seams: ModelSeams,
  ): Promise<ModelAccess> {
    const getBearerToken = (signal: AbortSignal) =>
      seams.getBearerToken(providerSettings.defaultName, signal);
    if (provider?.baseUrl !== undefined) {
      await this.settings().catch(unreadable);
      const own = { ...this.own, getBearerToken, named: settings.model };
      return ownService({ ...provider, baseUrl: provider.baseUrl }, own);
    }
    const access = withOtherModels(await this.common(settings, seams.sessionId), {
      model: settings.model,
      open: (model) => this.common({ ...settings, model }, seams.sessionId),
    });
    if (!provider) return access;
    if (access.withChanges) return access.withChanges(provider, seams);
    throw new ModelError(
      'configuration',
      'The session has no model service whose settings could be changed: name its baseUrl too.',
    );
  }

  /** The service of sessions that bring none. */
  private async common(settings: SessionSettings, sessionId: string): Promise<ModelAccess> {
    const { model, gitHubToken } = settings;
    await this.settings();
    if (model === offlineInfo.id) return this.offline;
    const user = gitHubToken === undefined ? undefined : await this.userOf(gitHubToken);
    const copilot = this.copilotFor(gitHubToken, user);
    if (await this.prefersAmbient(copilot, gitHubToken)) {
      const access = await this.ambient?.open(model, { hasOther: copilot !== undefined });
      if (access) return access;
    }
    return copilot ? copilot.open(settings, sessionId) : this.offline;
  }

  /** Whose token this is; nothing when no service can be asked. Throws TokenRefused. */
  async userOf(token: string): Promise<GitHubUser | undefined> {
    const { environment, exchange, directExchange = exchange } = this.sources;
    if (!environment.COPILOT_DEBUG_GITHUB_API_URL) return undefined;
    this.users ??= import('./git-hub-user.js').then(
      ({ GitHubUsers }) => new GitHubUsers({ environment, exchange: directExchange }),
    );
    return (await this.users).find(token);
  }

  /** The models that one session may choose from. */
  async listFor(settings: SessionSettings, open: () => Promise<ModelAccess>): Promise<readonly ModelInfo[]> {
    const { provider, providers, gitHubToken } = settings;
    const isOwn = provider?.baseUrl !== undefined;
    const common = isOwn ? await listOf(await open()) : await this.list(gitHubToken);
    if (!providers) return common;
    const { registryModels } = await import('./model-registry.js');
    return [...common, ...registryModels(settings)];
  }

  /** What holds for all model calls. Throws ModelError for settings that cannot be read. */
  async settings(): Promise<ModelCallSettings> {
    if (this.ambient) this.callSettings = await this.ambient.settings();
    return this.callSettings;
  }

  /** Milliseconds that steps of a call may take, where settings name them; known since the first session. */
  get timeLimits(): Partial<TimeLimits> {
    const { modelIdleTimeout } = this.callSettings;
    return modelIdleTimeout === undefined ? {} : { idle: modelIdleTimeout * 1000 };
  }

  /** The models clients may choose from; the first of the Copilot API leaves the choice to the service. */
  async list(gitHubToken?: string): Promise<readonly ModelInfo[]> {
    const copilot = this.copilotFor(gitHubToken);
    if (await this.prefersAmbient(copilot, gitHubToken)) {
      const models = (await this.ambient?.list()) ?? [];
      if (models.length > 0) return models;
    }
    if (!copilot) return [offlineInfo];
    const models = await copilot.models();
    const [first] = models;
    return first ? [{ ...first, id: 'auto', name: 'Auto', raw: {} }, ...models] : [];
  }

  /** What a service of the user's own offers. */
  modelsOf(provider: ProviderConfig): Promise<readonly ModelInfo[]> {
    return configuredProvider(provider, this.sources).models();
  }

  /** The model that is always there. */
  get embedded(): ModelInfo {
    return offlineInfo;
  }

  private async prefersAmbient(
    copilot: CopilotAccess | undefined,
    gitHubToken: string | undefined,
  ): Promise<boolean> {
    if (!this.ambient) return false;
    const isMeant = copilot && (gitHubToken !== undefined || this.sources.token?.()?.isGiven);
    return isMeant ? this.ambient.isNamedForUs() : this.ambient.isNamed();
  }

  private get retry(): RetryOptions {
    return {
      policy: (failed) => {
        const { retryAfterLimit } = this.callSettings;
        return standardRetryPolicy(retryAfterLimit === undefined ? {} : { maxRetryAfter: retryAfterLimit })(
          failed,
        );
      },
    };
  }

  /** For services that a client brings. */
  private get own(): OwnServiceSources {
    const { operators } = this;
    return { ...operators, headerVariables: operators.clientVariables };
  }

  /** For services that the operator names. */
  private get operators(): OwnServiceSources {
    const { environment, version, exchange, clientHeaderVariables = [] } = this.sources;
    const listed = [...(this.callSettings.headerVariables ?? []), ...clientHeaderVariables];
    const allowed = clientVariables(environment, listed);
    return { environment, version, exchange, retry: this.retry, clientVariables: allowed };
  }

  private copilotFor(sessionToken: string | undefined, user?: GitHubUser): CopilotAccess | undefined {
    const { environment, version, exchange } = this.sources;
    const baseUrl = environment.COPILOT_API_URL || user?.api;
    const shown = sessionToken ?? this.sources.token?.()?.value;
    if (!baseUrl || !shown) return undefined;
    const known = this.copilot.get(shown);
    if (known) return known;
    const access = new CopilotAccess({ baseUrl, token: shown, version, environment, exchange }, this.retry);
    this.copilot.set(shown, access);
    return access;
  }
}

function withoutModel({ model: _, ...settings }: SessionSettings): SessionSettings {
  return settings;
}

/** A service that does not list its models can be used all the same. */
async function listOf({ provider }: ModelAccess): Promise<readonly ModelInfo[]> {
  return provider.models().catch(() => []);
}

/** A client with a service of its own is served even when the home's settings cannot be read. */
const unreadable = (): undefined => undefined;

/**
 * The variables that headers of a client's provider may name: those that the operator lists, and never a key or token that the
 * runtime itself goes by. Any client could have them sent to an address of its own.
 */
function clientVariables(environment: Environment, listed: readonly string[]): Environment {
  const allowed = listed.filter((name) => Object.hasOwn(environment, name) && !isSecretOfRuntime(name));
  return Object.fromEntries(allowed.map((name) => [name, environment[name]]));
}

/** What answers when nothing is configured: no key, no network, no weights. */
function offlineAccess(thinkElsewhere?: ThinkElsewhere): ModelAccess {
  return {
    provider: offlineModel(thinkElsewhere),
    defaultModel: offlineInfo.id,
    info: () => offlineInfo,
    isCopilot: false,
    titles: () => false,
    standsInFor: (model) => model !== offlineInfo.id && model !== 'auto',
  };
}
