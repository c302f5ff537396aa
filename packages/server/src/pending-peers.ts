/** Peers of a port that have not shown its token yet. They cost little, and not for long. */
export class PendingPeers {
  /** The oldest first. */
  private readonly present = new Set<PendingPeer>();
  private wrongTokens = 0;

  /** Lets a peer stay for a while; where there are too many, the one that has waited longest goes. */
  enter(close: () => void): PendingPeer {
    const peer = new PendingPeer(close, () => this.present.delete(peer));
    this.present.add(peer);
    const [oldest] = this.present;
    if (this.present.size > mostPendingPeers) oldest?.sendAway();
    return peer;
  }

  /** A peer has shown the token: the count of wrong ones begins anew. */
  welcomed(): void {
    this.wrongTokens = 0;
  }

  /** How long the answer to a wrong token waits: longer each time, whichever connection it came by. */
  delay(): number {
    this.wrongTokens += 1;
    return Math.min(firstDelay * 2 ** (this.wrongTokens - 1), longestDelay);
  }
}

/** One peer that has not shown the token. */
export class PendingPeer {
  private wrongTokens = 0;
  private otherRequests = 0;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly close: () => void,
    private readonly removed: () => void,
  ) {
    this.timer = setTimeout(() => this.sendAway(), patience).unref();
  }

  /** It is a stranger no more, or gone. */
  disconnect(): void {
    clearTimeout(this.timer);
    this.removed();
  }

  sendAway(): void {
    this.disconnect();
    this.close();
  }

  /** False when it has guessed often enough: what it shows is not looked at. */
  mayGuess(): boolean {
    return this.wrongTokens < mostWrongTokens;
  }

  /** Counts a wrong token; true when it was the last that it may show. */
  guessedWrong(): boolean {
    this.wrongTokens += 1;
    return !this.mayGuess();
  }

  /** Counts what it asks without having shown the token; true when it was too much. */
  asked(): boolean {
    this.otherRequests += 1;
    return this.otherRequests > mostOtherRequests;
  }
}

const mostPendingPeers = 64;
const mostWrongTokens = 5;
const mostOtherRequests = 64;
/** Milliseconds in which the token must be shown. */
const patience = 5000;
const firstDelay = 50;
const longestDelay = 1000;
