import type { Call, Encoded } from '@groundcrew/rpc';
import type { LogRecord } from '@groundcrew/store';

/** A request as it came. */
export interface RoutedRequest {
  readonly method: string;
  /** The method by its current name. */
  readonly name: string;
  readonly params: unknown;
  readonly call: Call;
}

/** A client as one sees it who has its requests served at another node. */
export interface RoutedClient {
  readonly id: string;
  /** Serves a request at this node, by what it has itself. */
  serveHere(request: Pick<RoutedRequest, 'method' | 'params' | 'call'>): Promise<unknown>;
  /** Puts a request of the session's node to the client. */
  ask(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  /** False when the client is behind. */
  send(frame: Encoded): boolean;
  drained(): Promise<void>;
  /** A stored event as this client can read it; undefined for one that it cannot. */
  eventOf(sessionId: string, record: LogRecord): Encoded | undefined;
  /** Learns from the parameters with which it opens a session what the client can read. */
  settle(params: unknown, isResume: boolean): void;
  /** What the server of another node has to know of it. */
  describe(): unknown;
}

/** The requests of one client on their way to where they are served. */
export interface Routes {
  request(request: RoutedRequest): Promise<unknown>;
  /** The client is gone. */
  close(): void;
}

/** Has requests served at the node that owns their session. */
export interface Routing {
  open(client: RoutedClient): Routes;
  /** This node is about to end: it opens no sessions for clients of other nodes. */
  readonly isDraining: boolean;
}

/** A notification to the node of a client: the session is no longer here. */
export const sessionMoved = 'cluster.sessionMoved';
