import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  providerOf,
  RuntimeProcess,
  ScriptedApi,
  say,
  temporaryDirectory,
  WireClient,
  type WireSession,
} from '@groundcrew/testkit';

/** What a scenario says beside the address of its server. */
interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  /** The calls that the scenario wants; every tool is called once without it. */
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

/** Scenarios whose server wants a client that is known by an address. */
const clientAddress = 'https://conformance-test.local/client-metadata.json';

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context } = process.env;
await play(
  process.argv.at(-1) ?? '',
  scenario,
  context === undefined ? {} : (JSON.parse(context) as Context),
);

/** Plays one scenario through a whole session: a runtime on a pipe, a scripted model that calls every tool of the server. */
async function play(
  url: string,
  name: string,
  { client_id, client_secret, toolCalls }: Context,
): Promise<void> {
  const home = temporaryDirectory();
  const workingDirectory = join(home.path, 'work');
  mkdirSync(workingDirectory);
  const runtime = new RuntimeProcess({ flags: ['--headless', '--stdio'], home: home.path, workingDirectory });
  const api = await ScriptedApi.open();
  const client = new WireClient(await runtime.connect());
  try {
    const model = api.script();
    const isMachine = name.includes('client-credentials');
    const clientId = client_id ?? (name === 'auth/basic-cimd' ? clientAddress : undefined);
    const server = {
      type: 'http',
      url,
      ...(clientId !== undefined && { oauthClientId: clientId }),
      ...(isMachine && { oauthGrantType: 'client_credentials' }),
    };
    const session = await client.create({
      ...providerOf(model),
      requestElicitation: true,
      mcpServers: { srv: server },
    });
    await session.call('session.permissions.setApproveAll', { enabled: true });
    await session.call('session.eventLog.registerInterest', { eventType: 'mcp.oauth_required' });
    const answering = answerAll(client, session, client_secret);
    await session.call('session.mcp.list');
    await settled(client, session);
    const calls =
      toolCalls?.map((call, index) => ({ ...call, id: `c${index}`, name: `srv-${call.name}` })) ??
      (await callsOf(session));
    model.play(...(calls.length > 0 ? [callTools(...calls)] : []), say('done'));
    await session.turn('Call every tool');
    await session.call('session.mcp.stopServer', { serverName: 'srv' });
    answering.stop();
    report(session);
  } finally {
    await client.close();
    await runtime.stop();
    await api.close();
    home.remove();
  }
}

/** Logs in whenever a log-in is wanted, as a user with a browser would, and accepts every form. */
function answerAll(client: WireClient, session: WireSession, clientSecret: string | undefined) {
  const answered = new Set<string>();
  const look = () => {
    for (const { type, data } of session.events) {
      const { requestId, reason } = data as { readonly requestId?: string; readonly reason?: string };
      if (requestId === undefined || answered.has(requestId)) continue;
      if (type === 'mcp.oauth_required') {
        answered.add(requestId);
        void logIn(session, { requestId, reason, clientSecret });
      }
      if (type === 'elicitation.requested') {
        answered.add(requestId);
        const { requestedSchema } = data as { readonly requestedSchema?: Schema };
        void session.call('session.ui.handlePendingElicitation', {
          requestId,
          result: { action: 'accept', content: defaultsOf(requestedSchema) },
        });
      }
    }
  };
  const timer = setInterval(look, 5);
  return { stop: () => clearInterval(timer), client };
}

async function logIn(
  session: WireSession,
  {
    requestId,
    reason,
    clientSecret,
  }: { requestId: string; reason: string | undefined; clientSecret: string | undefined },
): Promise<void> {
  try {
    const { authorizationUrl } = await session.call<{ authorizationUrl?: string }>(
      'session.mcp.oauth.login',
      {
        serverName: 'srv',
        forceReauth: reason === 'upscope',
        ...(clientSecret !== undefined && { clientSecret }),
      },
    );
    if (authorizationUrl === undefined) return;
    const page = await fetch(authorizationUrl);
    console.log(`log-in page: HTTP ${page.status}`);
    if (!page.ok) throw new Error(`HTTP ${page.status}`);
  } catch (error) {
    console.log(`no log-in: ${error instanceof Error ? error.message : error}`);
    await session.call('session.mcp.oauth.handlePendingRequest', {
      requestId,
      result: { kind: 'cancelled' },
    });
  }
}

/** Waits until the server is connected or is not going to be. */
async function settled(client: WireClient, session: WireSession): Promise<void> {
  await client.until(() => {
    const changes = session.events.filter(({ type }) => type === 'session.mcp_server_status_changed');
    const { status } = (changes.at(-1)?.data ?? {}) as { readonly status?: string };
    return status !== undefined && status !== 'pending' ? status : undefined;
  }, 'the server to settle');
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
}

async function callsOf(session: WireSession) {
  await session.call('session.tools.initializeAndValidate').catch(() => undefined);
  const { tools } = await session.call<{
    tools:
      | readonly { readonly name: string; readonly mcpServerName?: string; readonly input_schema?: Schema }[]
      | null;
  }>('session.tools.getCurrentMetadata');
  const own = (tools ?? []).filter(({ mcpServerName }) => mcpServerName === 'srv');
  return own.map(({ name, input_schema }, index) => ({
    id: `c${index}`,
    name,
    // A tool that wants a schema gets that of the first.
    arguments: argumentsFor(input_schema, own[0]?.input_schema),
  }));
}

function argumentsFor({ properties = {} }: Schema = {}, schema: Schema = {}): Record<string, unknown> {
  const values: Readonly<Record<string, unknown>> = {
    number: 2,
    integer: 2,
    boolean: true,
    array: [],
    object: {},
  };
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type = 'string', enum: choices, default: given }]) => [
      name,
      name === 'schema' ? schema : (given ?? choices?.[0] ?? values[type] ?? 'text'),
    ]),
  );
}

function defaultsOf({ properties = {} }: Schema = {}): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, { default: given }]) =>
      given === undefined ? [] : [[name, given]],
    ),
  );
}

/** What happened, for the logs of the suite. */
function report(session: WireSession): void {
  for (const { type, data } of session.events)
    if (/^(session\.mcp|mcp\.|session\.warning|tool\.execution_complete)/.test(type))
      console.log(type, JSON.stringify(data));
}
