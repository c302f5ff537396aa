import {
  type Environment,
  ModelError,
  type ModelInfo,
  type Price,
  withCachedModels,
} from '@groundcrew/models';
import type { ModelAccess, ProviderSettings } from '@groundcrew/runtime';
import type { ChosenProvider, Provider, ProviderWay } from './provider-choice.js';

export interface AmbientSources {
  readonly environment: Environment;
  /** Reads the model settings of the home and the environment; undefined when neither has any. */
  readSettings(): Promise<ModelSettings> | undefined;
  /** A service as sessions use it. */
  open(provider: Provider): ModelAccess;
}

/** What settings say of all model calls. */
export interface ModelCallSettings {
  /** US dollars for a million tokens, over those that are generally known. */
  readonly prices?: Readonly<Record<string, Partial<Price>>>;
  /** Seconds beyond which a service that asks to wait is not waited for. */
  readonly retryAfterLimit?: number;
  /** Seconds a service may be silent within its answer. */
  readonly modelIdleTimeout?: number;
  /** Variables that headers of a client's provider may name. */
  readonly headerVariables?: readonly string[];
  /** Where titles come from for sessions that use a service named here and have no setting of their own; default: the model. */
  readonly titles?: 'model' | 'prompt';
}

/** What settings say of models. */
export interface ModelSettings extends ModelCallSettings {
  readonly model?: string;
  readonly provider?: ProviderSettings;
}

/** What surrounds a runtime and says something about models. */
interface AmbientServices {
  readonly services: readonly AmbientService[];
  readonly settings: ModelCallSettings;
  /** Chooses among the services by the name of a model. */
  choose(model: string | undefined): AmbientService | undefined;
}

/** Variables without which the environment names no service. */
const decisive = [
  'ANTHROPIC_API_KEY',
  'AZURE_OPENAI_ENDPOINT',
  'GROUNDCREW_API_KEY',
  'GROUNDCREW_BASE_URL',
  'OLLAMA_HOST',
  'OPENAI_API_KEY',
];

/**
 * The services that settings of the home and the environment name, for sessions that bring none of their own. They are
 * looked for by the first such session: a runtime that only starts has no use for them.
 */
export class AmbientModels {
  private found: Promise<AmbientServices> | undefined;

  constructor(private readonly sources: AmbientSources) {}

  /** The way to a model of this name, or to any; `hasOther`: another service takes models that no service here certainly has. */
  async open(
    model: string | undefined,
    options: { readonly hasOther: boolean },
  ): Promise<ModelAccess | undefined> {
    const service = await this.find(model, options);
    return service?.access(model);
  }

  /** All models of all services, each where a session that names it would go. */
  async list(): Promise<readonly ModelInfo[]> {
    const { services } = await this.load();
    const lists = await Promise.allSettled(services.map((service) => service.models()));
    const listed = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value : []));
    const [failed] = lists.flatMap((list) => (list.status === 'rejected' ? [list.reason] : []));
    if (listed.length === 0 && failed !== undefined) throw failed;
    const ids = new Set<string>();
    return listed.filter(({ id }) => !ids.has(id) && ids.add(id));
  }

  /** Whether any service is named here. */
  async isNamed(): Promise<boolean> {
    return (await this.load()).services.length > 0;
  }

  /** Whether one is named for Groundcrew, rather than by a variable that other programs read too. */
  async isNamedForUs(): Promise<boolean> {
    return (await this.load()).services.some(({ isForUs }) => isForUs);
  }

  /** Settings of all model calls; those of the environment go before those of the home. */
  async settings(): Promise<ModelCallSettings> {
    return (await this.load()).settings;
  }

  private async find(
    model: string | undefined,
    { hasOther }: { readonly hasOther: boolean },
  ): Promise<AmbientService | undefined> {
    const { services, choose } = await this.load();
    const chosen = choose(model);
    if (model === undefined || chosen === undefined || services.length === 1) return chosen;
    if (chosen.certainlyHas(model)) return chosen;
    const lists = await Promise.all(services.map((service) => service.models().catch(() => [])));
    const at = lists.findIndex((list) => list.some(({ id }) => id === model));
    return services[at] ?? (hasOther ? undefined : chosen);
  }

  private load(): Promise<AmbientServices> {
    this.found ??= this.look();
    return this.found;
  }

  private look(): Promise<AmbientServices> {
    const { environment, readSettings } = this.sources;
    const settings = readSettings();
    const isEmpty = settings === undefined && !decisive.some((name) => environment[name]);
    return isEmpty ? Promise.resolve(nothing) : this.read(settings ?? Promise.resolve({}));
  }

  private async read(reading: Promise<ModelSettings>): Promise<AmbientServices> {
    const { environment, open } = this.sources;
    try {
      const [{ provider: file, model: ofFile, ...settings }, { chooseProvider, providerWays }] =
        await Promise.all([reading, import('./provider-choice.js')]);
      const model = environment.GROUNDCREW_MODEL || ofFile;
      const titles = settings.titles !== 'prompt';
      const ways = providerWays({ environment, file });
      const isFirst = ways[0]?.provider !== undefined;
      const named = (isFirst ? ways.slice(0, 1) : ways).filter(isNamed);
      const services = new Map(
        named.map((way) => [way.name, new AmbientService(way, { open, model, titles })]),
      );
      return {
        services: [...services.values()],
        settings,
        choose: (wanted) => services.get(chooseProvider(ways, wanted ?? model)?.name ?? 'provider'),
      };
    } catch (error) {
      this.found = undefined;
      throw new ModelError('configuration', error instanceof Error ? error.message : String(error));
    }
  }
}

type NamedWay = ProviderWay & { readonly provider: ChosenProvider };

function isNamed(way: ProviderWay): way is NamedWay {
  return way.provider !== undefined;
}

const nothing: AmbientServices = { services: [], settings: {}, choose: () => undefined };

/** One service that was named, however many sessions use it. */
class AmbientService {
  private readonly opened: ModelAccess;
  private readonly provider: ModelAccess['provider'];
  private readonly defaultModel: string | undefined;
  private listed: ReadonlyMap<string, ModelInfo> = new Map();

  constructor(
    private readonly way: NamedWay,
    private readonly options: {
      readonly open: AmbientSources['open'];
      readonly model: string | undefined;
      readonly titles: boolean;
    },
  ) {
    // A model that was named for all is what sessions begin with, not what every one of them gets.
    const { modelId, ...config } = way.provider.config;
    this.opened = options.open(config);
    this.provider = withCachedModels(this.opened.provider);
    this.defaultModel = options.model ?? modelId;
  }

  get isForUs(): boolean {
    return this.way.name === 'provider';
  }

  certainlyHas(model: string): boolean {
    return this.isForUs || (this.way.serves?.test(model) ?? false);
  }

  async models(): Promise<readonly ModelInfo[]> {
    const models = await this.provider.models();
    this.listed = new Map(models.map((each) => [each.id, each]));
    return models;
  }

  /** A session that names no model gets the one that was named for all, else the first the service lists. */
  async access(model: string | undefined): Promise<ModelAccess> {
    const isNamed = model !== undefined && model !== 'auto';
    const first = isNamed || this.defaultModel !== undefined ? undefined : await this.firstModel();
    return {
      ...this.opened,
      provider: this.provider,
      titles: () => this.options.titles || undefined,
      defaultModel: this.defaultModel ?? first ?? this.opened.defaultModel,
      info: (id) => this.listed.get(id) ?? this.opened.info(id),
      otherModel: (id) => [...this.listed.keys()].find((each) => each !== id),
    };
  }

  /** A service that does not list its models is asked for the one that every service of a user's own is asked for. */
  private async firstModel(): Promise<string | undefined> {
    const models = await this.models().catch((): readonly ModelInfo[] => []);
    return models[0]?.id;
  }
}
