/** Under it a large request says how long it was. */
export const bodyBytes = Symbol('bodyBytes');

/** Chosen by the caller, and given back with the answer exactly as it came: a `bigint` is too large for a `number`. */
export type RequestId = string | number | bigint | null;

/** Asks for a method and expects one response with the same id. */
export interface Request {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: unknown;
  /** How long it was, when it was long; never on the wire. */
  readonly [bodyBytes]?: number;
}

/** A message that expects no answer. */
export interface Notification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: unknown;
}

/** Answers a request that went well; a result is never left out, nothing is said as `null`. */
export interface Success {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly result: unknown;
}

/** What the caller of a failed request gets. */
export interface ErrorObject {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Answers a request that failed. */
export interface Failure {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly error: ErrorObject;
}

/** Whatever may travel on a channel. */
export type Message = Request | Notification | Success | Failure;

/** A message serialised once, to be shared by any number of channels. */
export interface Encoded {
  readonly json: string;
  /** Length in UTF-8, counted at its first use. */
  readonly byteLength: number;
  /** The same as bytes, in pieces: of a message that would take too long to be made one text. */
  readonly pieces?: readonly Buffer[];
}

/** Serialises now, so that every channel it is sent to pays for its bytes only. Throws what JSON cannot hold. */
export function encode(message: Message): Encoded {
  return new EncodedMessage(JSON.stringify(message));
}

/** Takes JSON text at its word: it must be one whole message, of so many bytes if they are given. */
export function encodeRaw(json: string, byteLength?: number): Encoded {
  return new EncodedMessage(json, byteLength);
}

/** A result that is JSON text already, and goes out as it stands. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** A result that is JSON in UTF-8 already, cut anywhere into pieces that are quickly written. */
export class RawPieces {
  constructor(readonly pieces: readonly Buffer[]) {}
}

/** A message whose middle is in pieces. */
export function encodePieces(head: string, { pieces }: RawPieces, tail: string): Encoded {
  return new EncodedPieces([Buffer.from(head), ...pieces, Buffer.from(tail)]);
}

/** Lets a channel take either form. */
export function toEncoded(message: Message | Encoded): Encoded {
  return 'json' in message ? message : encode(message);
}

class EncodedMessage implements Encoded {
  constructor(
    readonly json: string,
    private bytes = -1,
  ) {}

  get byteLength(): number {
    if (this.bytes < 0) this.bytes = Buffer.byteLength(this.json);
    return this.bytes;
  }
}

class EncodedPieces implements Encoded {
  readonly byteLength: number;

  constructor(readonly pieces: readonly Buffer[]) {
    this.byteLength = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** For channels that know only texts. */
  get json(): string {
    return Buffer.concat(this.pieces).toString();
  }
}
