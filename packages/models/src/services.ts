import { ModelError } from './errors.js';
import type { Headers } from './headers.js';
import { type KnownWire, type WireName, wires } from './wires.js';

/** What of a client's words about a service says where it is. */
export interface ServiceAddress {
  readonly type?: 'openai' | 'azure' | 'anthropic' | undefined;
  readonly wireApi?: 'completions' | 'responses' | undefined;
  readonly transport?: 'http' | 'websockets' | undefined;
  readonly baseUrl: string;
  readonly azure?: { readonly apiVersion?: string | undefined } | undefined;
}

/** A service as it can be called: a wire at an address. */
export interface Service {
  readonly wire: KnownWire;
  /** Where calls to this model are posted. */
  url(model: string): string;
  /** Where it lists its models. */
  modelsUrl(): string;
  /** What the service has to be sent besides who asks. */
  readonly headers: Headers;
  /** How a key is shown; a bearer token is shown the same way everywhere. */
  key(apiKey: string): Headers;
}

/** Where a service is and how it wants to be spoken to. Throws for one that this version does not serve. */
export function serviceAt(address: ServiceAddress): Service {
  const { type = 'openai', transport = 'http' } = address;
  const service = Object.hasOwn(services, type) ? services[type] : undefined;
  if (!service)
    throw new ModelError(
      'configuration',
      `This version serves providers of type "openai", "azure" or "anthropic", not "${type}"`,
    );
  if (transport === 'http') return service(address);
  if (transport !== 'websockets')
    throw new ModelError(
      'configuration',
      `This version serves providers over "http" or "websockets", not "${String(transport)}"`,
    );
  const served = service(address);
  if (served.wire !== wires['openai-responses'])
    throw new ModelError(
      'configuration',
      'This version serves the wireApi "responses" over websockets, and no other',
    );
  return { ...served, wire: wires['openai-responses-socket'] };
}

const services: Readonly<Record<'openai' | 'azure' | 'anthropic', (address: ServiceAddress) => Service>> = {
  openai: openaiService,
  azure: azureService,
  anthropic: anthropicService,
};

function openaiService(address: ServiceAddress): Service {
  const wire = wires[openaiWire(address)];
  const url = below(address.baseUrl, wire.path);
  return {
    wire,
    url: () => url,
    modelsUrl: () => below(address.baseUrl, '/models'),
    headers: {},
    key: bearer,
  };
}

/** The first version of the API in which everything this wire needs is settled. */
const azureApiVersion = '2024-10-21';

/**
 * Azure has a model's name in the path and its API's version in the query, or neither below `/openai/v1`.
 * Responses came after deployments had gone from the path, and need a version only where one is named.
 */
function azureService(address: ServiceAddress): Service {
  const { wireApi, azure } = address;
  const wire = wires[openaiWire(address)];
  const base = address.baseUrl;
  const key = (apiKey: string) => ({ 'api-key': apiKey });
  const path = pathOf(base);
  const version = { 'api-version': azure?.apiVersion || azureApiVersion };
  if (path.endsWith('/openai/v1')) {
    const url = below(base, wire.path);
    return { wire, url: () => url, modelsUrl: () => below(base, '/models'), headers: {}, key };
  }
  const root = path.endsWith('/openai') ? '' : '/openai';
  const modelsUrl = () => below(base, `${root}/models`, version);
  if (wireApi === 'responses') {
    const url = azure?.apiVersion
      ? below(base, `${root}/responses`, version)
      : below(base, `${root}/v1/responses`);
    return { wire, url: () => url, modelsUrl, headers: {}, key };
  }
  const deployment = (model: string) =>
    /\/deployments\/[^/]+$/.test(path) ? '' : `${root}/deployments/${encodeURIComponent(model)}`;
  return {
    wire,
    url: (model) => below(base, `${deployment(model)}${wire.path}`, version),
    modelsUrl,
    headers: {},
    key,
  };
}

function anthropicService({ baseUrl }: ServiceAddress): Service {
  const wire = wires['anthropic-messages'];
  const root = pathOf(baseUrl).endsWith('/v1') ? '' : '/v1';
  const url = below(baseUrl, root + wire.path);
  return {
    wire,
    url: () => url,
    modelsUrl: () => below(baseUrl, `${root}/models`, { limit: '1000' }),
    headers: { 'anthropic-version': '2023-06-01' },
    key: (apiKey) => ({ 'x-api-key': apiKey }),
  };
}

function openaiWire({ wireApi = 'completions' }: ServiceAddress): WireName {
  if (wireApi === 'completions') return 'openai-chat';
  if (wireApi === 'responses') return 'openai-responses';
  throw new ModelError(
    'configuration',
    `This version serves the wireApi "completions" and "responses", not "${String(wireApi)}"`,
  );
}

/** A token as every service takes it. */
export function bearer(token: string): Headers {
  return { authorization: `Bearer ${token}` };
}

/** The address of a path below a base address, whose query stays. */
export function below(baseUrl: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = parsed(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  url.hash = '';
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url.href;
}

function pathOf(baseUrl: string): string {
  return parsed(baseUrl).pathname.replace(/\/+$/, '');
}

function parsed(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw new ModelError('configuration', 'The baseUrl of the provider has to be an http or https address');
  if (url.username !== '' || url.password !== '')
    throw new ModelError('configuration', 'The baseUrl of the provider must not contain credentials');
  return url;
}
