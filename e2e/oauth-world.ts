import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Grant {
  readonly client: string;
  readonly resource: string | undefined;
  readonly scope: string;
}

interface Code extends Grant {
  readonly challenge: string;
  readonly redirect: string;
}

/** An authorisation server and a resource server on this machine, both strict. */
export interface OAuthWorld {
  /** Where the resource server speaks MCP. */
  readonly url: string;
  readonly issuer: string;
  /** What both were asked, a line each, in order; no secrets in it. */
  readonly asked: string[];
  /** Every secret that was given out or shown: none of them may be anywhere else. */
  readonly secrets: Set<string>;
  /** How they behave from now on. */
  readonly ways: Ways;
  /** No access token that was given out is valid any more. */
  expire(): void;
  /** No refresh token is valid any more either. */
  revoke(): void;
  close(): Promise<void>;
}

interface Ways {
  tokenSeconds: number;
  /** Replaces fields of the metadata of the authorisation server. */
  metadata: Record<string, unknown>;
  /** Replaces fields of the metadata of the resource. */
  resource: Record<string, unknown>;
  /** What the token end point answers instead. */
  tokenFailure: { readonly status: number; body(request: URLSearchParams): object } | undefined;
  denies: boolean;
  /** Replaces the `iss` that comes back with the browser. */
  issuer: string | undefined;
}

export async function oauthWorld(): Promise<OAuthWorld> {
  const world = new World();
  await world.open();
  return world;
}

/** Opens a page as a browser would, and follows where it is sent. */
export async function visit(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
}

class World implements OAuthWorld {
  readonly asked: string[] = [];
  readonly secrets = new Set<string>();
  readonly ways: Ways = {
    tokenSeconds: 3600,
    metadata: {},
    resource: {},
    tokenFailure: undefined,
    denies: false,
    issuer: undefined,
  };
  private readonly clients = new Map<string, readonly string[]>();
  private readonly codes = new Map<string, Code>();
  private readonly access = new Map<string, Grant>();
  private readonly refresh = new Map<string, Grant>();
  private readonly servers: Server[] = [];
  url = '';
  issuer = '';

  async open(): Promise<void> {
    this.issuer = await this.listen((request, response) => this.authorise(request, response));
    this.url = `${await this.listen((request, response) => this.serve(request, response))}/mcp`;
    this.clients.set('machine', []);
  }

  expire(): void {
    this.access.clear();
  }

  revoke(): void {
    this.access.clear();
    this.refresh.clear();
  }

  async close(): Promise<void> {
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  private async listen(answer: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>) {
    const server = createServer((request, response) => void answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.servers.push(server);
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  private secret(kind: string): string {
    const secret = `${kind}-${randomUUID()}`;
    this.secrets.add(secret);
    return secret;
  }

  private async authorise(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const url = new URL(request.url ?? '/', this.issuer);
    const body = await textOf(request);
    if (url.pathname === '/.well-known/oauth-authorization-server') {
      this.asked.push('metadata');
      return json(response, 200, {
        issuer: this.issuer,
        authorization_endpoint: `${this.issuer}/authorize`,
        token_endpoint: `${this.issuer}/token`,
        registration_endpoint: `${this.issuer}/register`,
        response_types_supported: ['code'],
        grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
        authorization_response_iss_parameter_supported: true,
        ...this.ways.metadata,
      });
    }
    if (url.pathname === '/register') return this.register(JSON.parse(body), response);
    if (url.pathname === '/authorize') return this.login(url.searchParams, response);
    if (url.pathname === '/token') return this.token(new URLSearchParams(body), response);
    return json(response, 404, {});
  }

  private register(client: { redirect_uris: readonly string[] }, response: ServerResponse) {
    this.asked.push('register');
    const id = `client-${this.clients.size}`;
    this.clients.set(id, client.redirect_uris);
    return json(response, 201, { ...client, client_id: id });
  }

  private login(asked: URLSearchParams, response: ServerResponse) {
    const client = asked.get('client_id') ?? '';
    const redirect = asked.get('redirect_uri') ?? '';
    const scope = asked.get('scope') ?? '';
    this.asked.push(`authorize scope=${scope}`);
    const isKnown = this.clients.get(client)?.includes(redirect);
    const challenge = asked.get('code_challenge') ?? '';
    if (!isKnown || asked.get('code_challenge_method') !== 'S256' || challenge === '')
      return json(response, 400, { error: 'invalid_request' });
    const target = new URL(redirect);
    target.searchParams.set('state', asked.get('state') ?? '');
    target.searchParams.set('iss', this.ways.issuer ?? this.issuer);
    if (this.ways.denies) target.searchParams.set('error', 'access_denied');
    else {
      const code = this.secret('code');
      const resource = asked.get('resource') ?? undefined;
      this.codes.set(code, { client, resource, scope, challenge, redirect });
      target.searchParams.set('code', code);
    }
    return response.writeHead(302, { location: target.href }).end();
  }

  private token(asked: URLSearchParams, response: ServerResponse) {
    const kind = asked.get('grant_type') ?? '';
    this.asked.push(`token ${kind} resource=${asked.get('resource') === this.url}`);
    for (const name of ['code_verifier', 'client_secret']) {
      const value = asked.get(name);
      if (value) this.secrets.add(value);
    }
    const { tokenFailure } = this.ways;
    if (tokenFailure) return json(response, tokenFailure.status, tokenFailure.body(asked));
    const grant = this.granted(kind, asked);
    if (!grant || grant.resource !== this.url) return json(response, 400, { error: 'invalid_grant' });
    const [accessToken, refreshToken] = [this.secret('access'), this.secret('refresh')];
    this.access.set(accessToken, grant);
    if (kind !== 'client_credentials') this.refresh.set(refreshToken, grant);
    return json(response, 200, {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: this.ways.tokenSeconds,
      scope: grant.scope,
      ...(kind !== 'client_credentials' && { refresh_token: refreshToken }),
    });
  }

  private granted(kind: string, asked: URLSearchParams): Grant | undefined {
    const client = asked.get('client_id') ?? '';
    const resource = asked.get('resource') ?? undefined;
    if (kind === 'client_credentials') {
      const isRight = client === 'machine' && asked.get('client_secret') === 'machine-secret-1';
      return isRight ? { client, resource, scope: asked.get('scope') ?? '' } : undefined;
    }
    if (kind === 'refresh_token') {
      const token = asked.get('refresh_token') ?? '';
      const grant = this.refresh.get(token);
      // A refresh token serves once.
      this.refresh.delete(token);
      return grant?.client === client ? grant : undefined;
    }
    const code = asked.get('code') ?? '';
    const known = this.codes.get(code);
    this.codes.delete(code);
    const digest = createHash('sha256')
      .update(asked.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight = known?.client === client && known.redirect === asked.get('redirect_uri');
    return isRight && known.challenge === digest && known.resource === resource ? known : undefined;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const body = await textOf(request);
    const { pathname, origin } = new URL(request.url ?? '/', this.url);
    const metadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`;
    if (pathname === '/.well-known/oauth-protected-resource/mcp') {
      this.asked.push('resource metadata');
      return json(response, 200, {
        resource: this.url,
        authorization_servers: [this.issuer],
        scopes_supported: ['read', 'write'],
        ...this.ways.resource,
      });
    }
    if (pathname !== '/mcp') return json(response, 404, {});
    const token = /^Bearer (.*)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const grant = this.access.get(token);
    const refuse = (status: number, error: string, scope: string) => {
      const challenge = `Bearer error="${error}", scope="${scope}", resource_metadata="${metadataUrl}"`;
      response.writeHead(status, { 'www-authenticate': challenge }).end();
    };
    if (!grant || grant.resource !== this.url) return refuse(401, 'invalid_token', 'read');
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body || '{}');
    if (id === undefined) return response.writeHead(202).end();
    const scopes = grant.scope.split(' ');
    if (method === 'tools/call' && params.name === 'change' && !scopes.includes('write'))
      return refuse(403, 'insufficient_scope', 'write');
    return json(response, 200, { jsonrpc: '2.0', id, ...answerTo(method, params, grant) });
  }
}

function answerTo(
  method: string,
  params: { readonly name?: string; readonly protocolVersion?: string },
  { scope }: Grant,
) {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion ?? '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'locked', version: '1' },
    },
    'tools/list': {
      tools: ['look', 'change'].map((name) => ({ name, inputSchema: { type: 'object' } })),
    },
    'tools/call': { content: [{ type: 'text', text: `${params?.name} by ${scope}` }] },
  };
  const result = results[method];
  return result ? { result } : { error: { code: -32601, message: 'Method not found' } };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function json(response: ServerResponse, status: number, value: object): ServerResponse {
  response.writeHead(status, { 'content-type': 'application/json' });
  return response.end(JSON.stringify(value));
}
