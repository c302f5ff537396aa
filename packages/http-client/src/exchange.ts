/** A request, whole. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In UTF-8, in pieces: a long conversation is not copied for every call of its own. */
  readonly body?: readonly Uint8Array[];
}

/** An answer whose head has come. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; what came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** May be iterated once. Leaving early gives the connection up. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Milliseconds each step of a call may take. */
export interface TimeLimits {
  /** To connect and to hand the whole request over. */
  readonly send: number;
  /** From then to the first byte of the answer; a model that does not stream thinks all this time. */
  readonly firstByte: number;
  /** Between two reads of the answer. */
  readonly idle: number;
}
