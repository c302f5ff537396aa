import type { Client, SessionMetadata, WaitingOn } from '@groundcrew/sdk/browser';

/** What the list shows of a session. */
export interface ListedSession {
  readonly sessionId: string;
  readonly title: string;
  readonly modifiedTime: Date;
  readonly directory: string;
  /** `stored`: no process of this server has it open. */
  readonly state: 'working' | 'waiting' | 'idle' | 'stored';
  readonly waitingOn: readonly WaitingOn[];
  /** US dollars; undefined where it is not known. */
  readonly cost: number | undefined;
}

const mostAsked = 40;

/** The sessions of the server, the newest first; of those that are open, what they do and what they cost. */
export async function listSessions(client: Client): Promise<readonly ListedSession[]> {
  const sessions = await client.listSessions();
  const newest = await Promise.all(sessions.slice(0, mostAsked).map((session) => describe(client, session)));
  return [...newest, ...sessions.slice(mostAsked).map(asStored)];
}

async function describe(client: Client, session: SessionMetadata): Promise<ListedSession> {
  const { sessionId } = session;
  const stored = asStored(session);
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

const questionKinds: ReadonlySet<string> = new Set(['permission', 'user_input', 'question', 'elicitation']);

function asStored({ sessionId, summary, modifiedTime, context }: SessionMetadata): ListedSession {
  return {
    sessionId,
    title: summary || sessionId,
    modifiedTime,
    directory: context?.workingDirectory ?? '',
    state: 'stored',
    waitingOn: [],
    cost: undefined,
  };
}

/** One thing that a session waits for, in words. */
export function waitText(wait: WaitingOn): string {
  const { kind, ...rest } = wait as { readonly kind: string; readonly [name: string]: unknown };
  const name = rest.toolName ?? rest.model ?? rest.agentName ?? rest.serverName ?? '';
  return `${kind.replaceAll('_', ' ')}${name === '' ? '' : ` ${String(name)}`}`;
}
