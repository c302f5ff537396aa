import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from '@groundcrew/models';
import type { NoticeOutbox, SessionStore } from '@groundcrew/store';
import type { TenantSettings } from '@groundcrew/tenants';
import type { Deliveries, EndpointSettings, Following, Webhooks } from '@groundcrew/webhooks';
import { UsageError } from '../flags/arguments.js';
import { readWebhooksSetting } from './config-file.js';
import { configPath } from './home.js';

/** The file of a home with messages that wait to be sent. */
const outboxName = 'webhooks.db';

interface WebhooksOptions {
  readonly homeDirectory: string;
  readonly environment: Environment;
  readonly version: string;
  /** Covers values in the diagnostics from now on. */
  addSecrets?(values: readonly string[]): void;
  warn(message: string): void;
}

/** Webhooks by the settings of the home; without any none of their code is loaded. Throws UsageError. */
export async function webhooksFor(options: WebhooksOptions): Promise<OpenWebhooks | undefined> {
  const path = configPath(options.homeDirectory);
  const entries = readWebhooksSetting(path);
  if (entries.length === 0) return undefined;
  const { readSecrets } = await import('@groundcrew/webhooks');
  const endpoints = entries.map((entry, index) => {
    const place = `${path}: webhooks[${index}]`;
    const { url, secretFile, secretVariable, ...rest } = entry;
    if (url === undefined) throw new UsageError(`${place}.url: missing`);
    if (rest.timeout === 0) throw new UsageError(`${place}.timeout: expected at least 1`);
    const secrets = asUsage(place, () =>
      readSecrets(secretText({ secretFile, secretVariable }, options.environment)),
    );
    return { url, secrets, ...rest };
  });
  return openerOf(endpoints, { ...options, place: path });
}

/** Webhooks as the program uses them. */
type ProgramWebhooks = Pick<Webhooks, 'watch' | 'start' | 'close'>;

/** Opens them for the stores of homes; with the outbox that the nodes of a database share, where they do. */
export type OpenWebhooks = (
  storeOf: (home: string) => SessionStore,
  shared: NoticeOutbox | undefined,
) => ProgramWebhooks;

interface OpenerParts extends Omit<WebhooksOptions, 'environment'> {
  /** Where the settings stand. */
  readonly place: string;
}

/** Opens webhooks that this process fills and delivers. Throws UsageError. */
async function openerOf(
  endpoints: readonly EndpointSettings[],
  { homeDirectory, version, place, addSecrets, warn }: OpenerParts,
): Promise<OpenWebhooks> {
  const { Webhooks: Followers } = await import('@groundcrew/webhooks');
  const open = await deliveriesOf(endpoints, place);
  addSecrets?.(endpoints.flatMap(({ secrets }) => secrets));
  return (storeOf, shared) => {
    const file = join(resolve(homeDirectory), outboxName);
    const { outbox, deliveries } = open({ outbox: shared ?? file, version, warn });
    const webhooks = new Followers({ endpoints, storeOf, outbox: woken(outbox, deliveries), warn });
    return {
      watch: (home, watched) => webhooks.watch(home, watched),
      start: () => {
        deliveries.start();
        webhooks.start();
      },
      close: async () => {
        await webhooks.close();
        await deliveries.close();
      },
    };
  };
}

interface OutboxPlace {
  /** The outbox, or its file. */
  readonly outbox: NoticeOutbox | string;
  readonly version: string;
  warn(message: string): void;
}

/** How deliveries to these addresses are opened. Throws UsageError. */
export async function deliveriesOf(
  endpoints: readonly EndpointSettings[],
  place: string,
): Promise<(at: OutboxPlace) => { readonly outbox: NoticeOutbox; readonly deliveries: Deliveries }> {
  const [{ checkAddress, Deliveries: Sending }, { openSqliteOutbox }] = await Promise.all([
    import('@groundcrew/webhooks'),
    import('@groundcrew/store-sqlite').then(({ loadOutbox }) => loadOutbox()),
  ]);
  for (const { url } of endpoints)
    await checkAddress(url).catch((error: Error) => {
      throw new UsageError(`${place}: ${error.message}`);
    });
  const urls = endpoints.map(({ url }) => new URL(url).href);
  if (new Set(urls).size < urls.length) throw new UsageError(`${place}: two webhooks have the same url`);
  return ({ outbox: given, version, warn }) => {
    const outbox = typeof given === 'string' ? openSqliteOutbox(given) : given;
    return { outbox, deliveries: new Sending({ endpoints, version, outbox, warn }) };
  };
}

/** The same outbox; a message that is put into it is sent at once. */
export function woken(outbox: NoticeOutbox, deliveries: Deliveries): Following {
  return {
    follow: (session, about) => outbox.follow(session, about),
    put: async (session, messages, most) => {
      const gone = await outbox.put(session, messages, most);
      deliveries.wake();
      return gone;
    },
    unfollow: (session) => outbox.unfollow(session),
    remove: (session) => outbox.remove(session),
    followed: () => outbox.followed(),
  };
}

/** The webhooks of a tenant, with the secrets from the files that its settings name. Throws UsageError. */
export async function endpointsOf({ webhooks = [] }: TenantSettings): Promise<readonly EndpointSettings[]> {
  if (webhooks.length === 0) return [];
  const { readSecrets } = await import('@groundcrew/webhooks');
  return webhooks.map(({ secretFile, ...rest }) => ({
    ...rest,
    secrets: asUsage('webhooks', () => readSecrets(privateText(secretFile))),
  }));
}

/** The text of the file or of the variable that the settings name; they name one of both. Throws UsageError. */
function secretText(
  {
    secretFile,
    secretVariable,
  }: { readonly secretFile?: string | undefined; readonly secretVariable?: string | undefined },
  environment: Environment,
): string {
  if (secretFile !== undefined && secretVariable !== undefined)
    throw new UsageError('secretFile or secretVariable, not both');
  if (secretFile !== undefined) return privateText(secretFile);
  if (secretVariable === undefined) throw new UsageError('secretFile: missing');
  const text = Object.hasOwn(environment, secretVariable) ? environment[secretVariable] : undefined;
  if (!text) throw new UsageError('secretVariable: the environment has no such variable');
  return text;
}

/** The text of a file that only its owner may read. Throws UsageError. */
function privateText(file: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
  try {
    if (process.platform !== 'win32' && (fstatSync(descriptor).mode & 0o077) !== 0)
      throw new UsageError(`${file} may be read by others than its owner: chmod 600 ${file}`);
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function asUsage<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new UsageError(`${place}: ${(error as Error).message}`);
  }
}
