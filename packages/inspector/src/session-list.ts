import type { Client, SessionMetadata, WaitingOn } from '@groundcrew/sdk/browser';
import { ago } from './format.js';

/** What the list shows of a session. */
export interface ListedSession {
  readonly sessionId: string;
  readonly title: string;
  readonly modifiedTime: Date;
  readonly directory: string;
  /** `stored`: open nowhere; `elsewhere`: another process works on it; `interrupted`: there is work that none goes on with. */
  readonly state: 'working' | 'waiting' | 'idle' | 'stored' | 'elsewhere' | 'interrupted';
  readonly waitingOn: readonly WaitingOn[];
  /** US dollars; undefined where it is not known. */
  readonly cost: number | undefined;
}

const mostAsked = 40;

/** The sessions of the server, the newest first; of those that are open, what they do and what they cost. */
export async function listSessions(client: Client): Promise<readonly ListedSession[]> {
  const [sessions, facts] = await Promise.all([client.listSessions(), readFacts()]);
  const stored = sessions.map((session) => asStored(session, facts[session.sessionId]));
  const newest = await Promise.all(stored.slice(0, mostAsked).map((session) => describe(client, session)));
  return [...newest, ...stored.slice(mostAsked)];
}

/** What the store says of a session that is not open. */
interface StoredFacts {
  readonly cost: number | null;
  readonly hasWork: boolean;
  readonly openIn?: number;
}

async function readFacts(): Promise<Readonly<Record<string, StoredFacts | undefined>>> {
  const answer = await fetch('/stored').catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as Record<string, StoredFacts>) : {};
}

async function describe(client: Client, stored: ListedSession): Promise<ListedSession> {
  const { sessionId } = stored;
  try {
    const [{ waitingOn, hasActiveWork }, { totalCost }] = await Promise.all([
      client.call('session.metadata.activity', { sessionId }),
      client.call('session.usage.getMetrics', { sessionId }),
    ]);
    const isAsking = waitingOn.some(({ kind }) => questionKinds.has(kind));
    const working = hasActiveWork ? ('working' as const) : ('idle' as const);
    return { ...stored, state: isAsking ? 'waiting' : working, waitingOn, cost: totalCost ?? undefined };
  } catch {
    // It is open nowhere: that is what a list is for.
    return stored;
  }
}

const questionKinds: ReadonlySet<string> = new Set([
  'permission',
  'user_input',
  'elicitation',
  'exit_plan_mode',
  'session_limits',
  'auto_mode_switch',
]);

function asStored(
  { sessionId, summary, modifiedTime, context }: SessionMetadata,
  facts: StoredFacts | undefined,
): ListedSession {
  const atWork = facts?.openIn === undefined ? ('interrupted' as const) : ('elsewhere' as const);
  return {
    sessionId,
    title: summary || sessionId,
    modifiedTime,
    directory: context?.workingDirectory ?? '',
    state: facts?.hasWork ? atWork : 'stored',
    waitingOn: [],
    cost: facts?.cost ?? undefined,
  };
}

/** One thing that a session waits for, in words. */
export function waitText(wait: WaitingOn): string {
  const { kind, ...rest } = wait as { readonly kind: string; readonly [name: string]: unknown };
  const name = rest.toolName ?? rest.model ?? rest.agentName ?? rest.serverName ?? '';
  const since = typeof rest.since === 'string' ? ` ${ago(new Date(rest.since))}` : '';
  return `${kind.replaceAll('_', ' ')}${name === '' ? '' : ` ${String(name)}`}${since === ' now' ? '' : since}`;
}
