import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { configuredHeaders, type Environment } from '@groundcrew/models';
import type { Client, ResumeSessionOptions, Session } from '@groundcrew/sdk';
import { particular } from '../config/allow-rules.js';
import type { Config } from '../config/config.js';
import { UsageError } from '../flags/arguments.js';
import { type FlagValues, switchFlag, textFlag } from '../flags/flags.js';

/** The flags that choose a session and shape it. */
export const sessionFlags = {
  resume: textFlag('--resume', 'ID|last', 'go on with a session; the beginning of its id is enough'),
  sessionId: textFlag('--session-id', 'ID', 'the id of the new session'),
  cwd: textFlag('--cwd', 'DIR', 'the directory the session works in'),
  noCustomInstructions: switchFlag('--no-custom-instructions', 'read no instructions from files'),
  system: textFlag('--system', 'TEXT', 'instructions that are added to the system prompt'),
};

/** What a session is opened with. */
export interface SessionRequest {
  readonly flags: FlagValues<typeof sessionFlags>;
  readonly config: Config;
  readonly workingDirectory: string;
  readonly environment: Environment;
  /** Handlers and tools of the command. */
  readonly options: ResumeSessionOptions;
}

/** Makes the session that flags and settings ask for, or opens it again. Throws UsageError. */
export async function openSession(client: Client, request: SessionRequest): Promise<Session> {
  const { flags, config } = request;
  if (flags.resume !== undefined && flags.sessionId !== undefined)
    throw new UsageError('--resume and --session-id cannot go together: a session has its id already');
  const options: ResumeSessionOptions = {
    clientName: 'groundcrew',
    streaming: config.streaming,
    ...request.options,
    ...(config.model !== undefined && { model: config.model }),
    ...ownProvider(config, request.environment),
    ...(flags.cwd !== undefined && { workingDirectory: directory(flags.cwd, request.workingDirectory) }),
    // A command of the user's own has the servers and skills of their files.
    enableConfigDiscovery: true,
    ...(flags.noCustomInstructions && { skipCustomInstructions: true }),
    ...(flags.system !== undefined && { systemMessage: { content: flags.system } }),
  };
  const session = await open(client, flags, options);
  const approved = [...particular(config.allow)];
  if (approved.length > 0)
    await session.call('session.permissions.configure', { rules: { approved, denied: [] } });
  return session;
}

/** Without a model to ask for, the choice is the runtime's, which asks the service what it has. */
export function ownProvider(
  { provider, model }: Config,
  environment: Environment,
): Pick<ResumeSessionOptions, 'provider'> {
  if (!provider) return {};
  const { modelId, ...config } = provider.config;
  if (model === undefined && modelId === undefined) return {};
  // The settings are the operator's own: their headers may name every variable, those of other clients may not.
  const headers = provider.config.headers && { headers: configuredHeaders(provider.config, { environment }) };
  return { provider: { ...(model === undefined ? provider.config : config), ...headers } };
}

async function open(
  client: Client,
  { resume, sessionId }: SessionRequest['flags'],
  options: ResumeSessionOptions,
): Promise<Session> {
  if (resume !== undefined) {
    // A list shows no session without a prompt; by its whole id it is found.
    const known = resume === 'last' ? undefined : await client.getSessionMetadata(resume);
    return client.resumeSession(known ? resume : await findSessionId(resume, listOf(client)), options);
  }
  return client.createSession({ ...options, ...(sessionId !== undefined && { sessionId }) });
}

/** All sessions there are, the newest first. */
export type SessionList = () => Promise<readonly { readonly sessionId: string }[]>;

/** The sessions of a client. */
export function listOf(client: Client): SessionList {
  return () => client.listSessions();
}

/** The id that the user means: the whole of it, its beginning, or `last`. Throws an error for users. */
export async function findSessionId(wanted: string, list: SessionList): Promise<string> {
  const ids = (await list()).map(({ sessionId }) => sessionId);
  const [newest] = ids;
  if (wanted === 'last') {
    if (newest === undefined) throw new UnknownSession('There is no session yet');
    return newest;
  }
  if (ids.includes(wanted)) return wanted;
  const [found, another] = wanted === '' ? [] : ids.filter((id) => id.startsWith(wanted));
  if (found === undefined) throw new UnknownSession(`There is no session ${wanted}`);
  if (another !== undefined)
    throw new UnknownSession(`More than one session begins with ${wanted}, such as ${found} and ${another}`);
  return found;
}

/** The session is unknown; `groundcrew sessions ls` lists those there are. */
class UnknownSession extends Error {
  override readonly name = 'UnknownSession';
}

function directory(named: string, workingDirectory: string): string {
  const path = resolve(workingDirectory, named);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new UsageError(`--cwd: there is no directory ${path}`);
}
