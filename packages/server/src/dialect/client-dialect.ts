import type { Attachment } from '@groundcrew/runtime';
import { type Age, ageOf, isAfterShellExit } from './client-age.js';
import { KeptIdles, type SentEvent } from './kept-idles.js';
import { eventFor, eventForProtocol, eventForRecent } from './older-events.js';
import { type AnsweredRequest, answerFor } from './older-methods.js';
import { isOfProtocol3, type Opening, type Protocol, protocolOf } from './protocol.js';

/** What the start of the process says of the clients that come. */
export interface ClientStart {
  /** The protocol of all that do not `connect`; absent where each of them shows it. */
  readonly protocol?: Protocol;
  /** Only releases of protocol 2 start the process in this way. */
  readonly showsProtocol2?: boolean;
  /** A client started the process with `--server`, as only some do. */
  readonly isServerFlag?: boolean;
  /** Calls of clients of protocol 2 that have no permission handler run unasked, as they did in the runtime of then. */
  readonly allowsUnasked?: boolean;
}

/** A dialect as it is sent to another node. */
export interface DescribedDialect {
  readonly age: Age;
  readonly settled?: Protocol;
  readonly hasConnected: boolean;
  readonly hasPinged: boolean;
  readonly isAfterShellExit: boolean;
}

/** What depends on a client's age or protocol, once per connection. Until it has opened a session it counts as new. */
export class ClientDialect {
  /** What `session.getMessages` shows beside what is stored. */
  readonly idles = new KeptIdles();
  private age: Age = 'new';
  private settled: Protocol | undefined;
  private hasConnected = false;
  private hasPinged = false;
  /** It has shown a field that only releases after 1.0.4 send. */
  private isAfterShellExit = false;

  constructor(private readonly start: ClientStart) {}

  /** What another node has to know of the client to speak to it as this one does. */
  describe(): DescribedDialect {
    const { age, settled, hasConnected, hasPinged, isAfterShellExit } = this;
    return { age, hasConnected, hasPinged, isAfterShellExit, ...(settled !== undefined && { settled }) };
  }

  /** A dialect as another node has described it. */
  static of(start: ClientStart, described: DescribedDialect): ClientDialect {
    return Object.assign(new ClientDialect(start), described);
  }

  /** The client has sent `connect`, which only protocol 3 has. */
  connected({ clientInfo }: { readonly clientInfo?: unknown } = {}): void {
    this.hasConnected = true;
    this.isAfterShellExit ||= clientInfo !== undefined;
  }

  /** The client has sent `ping`; those that begin with it may speak any protocol. */
  pinged(): void {
    this.hasPinged = true;
  }

  /** The version that this client is answered: releases of protocol 2 accept no other, those from 0.1.32 to 0.3.0 accept both. */
  get protocol(): Protocol {
    if (this.settled !== undefined) return this.settled;
    return this.said ?? (this.hasPinged || this.isStartedByProtocol2 ? 2 : 3);
  }

  /** Releases before `connect` read the time of a `ping` as a number. */
  get readsTimeAsText(): boolean {
    return this.hasConnected;
  }

  /** The first create or resume settles which protocol the client speaks, unless a later one shows that it is 3. */
  settle(opening: Opening): void {
    const { hasConnected } = this;
    const { isServerFlag = false } = this.start;
    if (this.settled === undefined || isOfProtocol3(opening.params))
      this.settled = this.said ?? this.shown(opening);
    this.isAfterShellExit ||= isAfterShellExit(opening.params);
    this.age = this.settled < 3 ? 'oldest' : ageOf(opening.params, { hasConnected, isServerFlag });
  }

  /** What leaves no doubt: `connect` is of protocol 3, and of others the process that started this one may know. */
  private get said(): Protocol | undefined {
    return this.hasConnected ? 3 : this.start.protocol;
  }

  private shown(opening: Opening): Protocol {
    if (isOfProtocol3(opening.params)) return 3;
    if (this.isStartedByProtocol2) return 2;
    return this.hasPinged ? protocolOf(opening) : 3;
  }

  /** The first release of all does not even ping; it starts the process with `--server`. */
  private get isStartedByProtocol2(): boolean {
    const { showsProtocol2 = false, isServerFlag = false } = this.start;
    return showsProtocol2 && (this.hasPinged || isServerFlag);
  }

  /** Tools, permissions and questions are put to this client as requests, not as events. */
  get asksByRequest(): boolean {
    return this.settled !== undefined && this.settled < 3;
  }

  /** It is of the releases whose resume looks like that of 0.1.30, and which speak protocol 3: 0.2.x. */
  get resumesLikeProtocol2(): boolean {
    return this.settled === 3 && this.age === 'oldest' && this.hasPinged;
  }

  /** Sessions of this client have the `report_intent` tool. */
  get reportsIntent(): boolean {
    return this.age !== 'new';
  }

  /** It cannot ask for pending work to go on, and expects it to. */
  get continuesPendingWork(): boolean {
    return this.asksByRequest;
  }

  /** Releases from before strategies expect headers of a prompt to replace the provider's; newer ones to join them. */
  get headerStrategy(): 'override' | 'merge' {
    return this.age === 'new' ? 'merge' : 'override';
  }

  /** What runs unasked in sessions of a client that answers no permission requests; absent: nothing that needs permission. */
  get unasked(): Attachment['unasked'] {
    if (!this.asksByRequest) return undefined;
    return { type: this.start.allowsUnasked ? 'all' : 'reads', hint: allowHint };
  }

  /** The JSON of an event as this client can read it; undefined for one that it cannot. */
  event(event: Pick<SentEvent, 'type' | 'json'>): string | undefined {
    const { settled = 3, age, isAfterShellExit: isLater } = this;
    if (settled === 3 && age === 'new' && !isLater) return eventForRecent(event);
    return settled === 3 ? eventFor(this.age, event) : eventForProtocol(settled, event);
  }

  /** An event is on its way to this client. */
  sent(sessionId: string, event: SentEvent): void {
    if (this.asksByRequest) this.idles.note(sessionId, event);
  }

  /** The answer to a request as this client can read it. */
  answer(request: AnsweredRequest, result: unknown): unknown {
    return answerFor(this.age, request, result);
  }
}

const allowHint =
  'This client has no permission handler: only its own tools and calls that read inside the working directory run. Set GROUNDCREW_V2_ALLOW_ALL=1 for the runtime to allow every call.';
