import { type StoreError, staleOwner } from '@groundcrew/store';
import { isLoss } from './agents/turn-outcome.js';
import type { LiveSessions } from './live-sessions.js';
import { hasTurnWork } from './log/fold.js';
import type { SessionLog } from './log/session-log.js';
import type { ClusterSeams } from './runtime-options.js';

/** So often is a session taken up again whose log has not grown in between. */
const mostTries = 3;

/** How the sessions of one of several nodes leave it. A runtime on its own leaves none. */
export class ReleasedSessions {
  /** Sessions that were given up, and where their logs ended. */
  private readonly given = new Map<string, { readonly seq: number; readonly times: number }>();

  constructor(
    private readonly live: LiveSessions,
    private readonly cluster: ClusterSeams | undefined,
  ) {}

  /** Another node has the session: the copy here is void, and its clients go on there. */
  lose(sessionId: string): void {
    const session = this.live.find(sessionId);
    this.live.endWait(sessionId);
    this.moved(sessionId);
    session?.keeper.lose(staleOwner(sessionId));
    this.live.remove(sessionId);
  }

  /** Leaves a session to other nodes: when its turn has ended, or as soon as the signal is aborted. */
  async handOver(sessionId: string, signal: AbortSignal): Promise<void> {
    const { cluster } = this;
    if (!cluster) return;
    await this.live.find(sessionId)?.keeper.settled(signal);
    await this.live.oneAtATime(sessionId, async () => {
      const session = this.live.find(sessionId);
      await session?.keeper.handOver((claim) => cluster.handOver(claim));
      this.live.endWait(sessionId);
      this.moved(sessionId);
      this.live.remove(sessionId);
    });
  }

  /** Clients of the session look for it again; false where there are no other nodes. */
  private moved(sessionId: string): boolean {
    this.cluster?.moved(sessionId);
    return this.cluster !== undefined;
  }

  /**
   * The store failed under a turn. True when it goes on elsewhere: another node has the session, or it is taken up again from
   * its log as soon as the store answers. False where that has failed too often at the same place of the log.
   */
  leaves(error: StoreError, { claim, state }: SessionLog): boolean {
    if (isLoss(error)) return this.moved(claim.sessionId);
    const mayPass = error.kind === 'busy' || error.kind === 'io';
    return mayPass && hasTurnWork(state) && this.giveUp(claim, state.seq);
  }

  private giveUp(claim: SessionLog['claim'], seq: number): boolean {
    const { cluster } = this;
    const { sessionId } = claim;
    const before = this.given.get(sessionId);
    const times = before?.seq === seq ? before.times + 1 : 1;
    this.given.delete(sessionId);
    if (!cluster || times > mostTries) return false;
    this.given.set(sessionId, { seq, times });
    // A client that opens it before that raises the epoch, and this has no effect.
    const leave = () => {
      cluster.handOver(claim).catch(() => void setTimeout(leave, retryMs).unref());
    };
    leave();
    return this.moved(sessionId);
  }
}

const retryMs = 1_000;
