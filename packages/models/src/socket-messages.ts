import type { WebSocket } from 'ws';
import { ModelError } from './errors.js';
import type { TimeLimits } from './exchange.js';

/** Messages held back for want of a reader, in bytes, before the service is asked to wait. */
const mostHeld = 64 * 1024;

/** The messages of one open WebSocket, up to its end. */
export class SocketMessages {
  #held: Buffer[] = [];
  #bytes = 0;
  #hasEnded = false;
  #error: unknown;
  #wake: () => void = () => undefined;

  constructor(private readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => this.#hear(data));
    socket.on('error', (error) => this.#fail(faultOf(error)));
    socket.on('close', (code) => this.#close(code));
  }

  /** Each message as it comes. Throws what broke the socket, after all it brought; leaving early closes the socket. */
  async *read({ firstByte, idle }: TimeLimits, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const abort = () => this.#breakOff(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    let what = 'did not answer';
    let limit = firstByte;
    try {
      for (;;) {
        const message = this.#take();
        if (message) {
          yield message;
          [what, limit] = ['stopped sending its answer', idle];
        } else if (this.#hasEnded) return;
        else await this.#more(what, limit);
      }
    } finally {
      signal.removeEventListener('abort', abort);
      this.socket.close(1000);
    }
  }

  #take(): Buffer | undefined {
    const message = this.#held.shift();
    if (message === undefined && this.#error !== undefined) throw this.#error;
    this.#bytes -= message?.length ?? 0;
    if (this.socket.isPaused && this.#bytes < mostHeld) this.socket.resume();
    return message;
  }

  async #more(what: string, milliseconds: number): Promise<void> {
    const text = `The model service ${what} within ${milliseconds / 1000} seconds`;
    const timer = setTimeout(() => this.#breakOff(new ModelError('timeout', text)), milliseconds);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    clearTimeout(timer);
  }

  #hear(data: Buffer): void {
    this.#held.push(data);
    this.#bytes += data.length;
    if (this.#bytes >= mostHeld) this.socket.pause();
    this.#wake();
  }

  /** Without a code (1005), and when the connection just ends (1006), the answer itself tells whether it is complete. */
  #close(code: number): void {
    this.#hasEnded = true;
    if ([1000, 1001, 1005, 1006].includes(code)) this.#wake();
    else this.#fail(closedBy(code));
  }

  #breakOff(error: unknown): void {
    this.#fail(error);
    this.#held = [];
    this.socket.terminate();
  }

  #fail(error: unknown): void {
    this.#error ??= error;
    this.#wake();
  }
}

function closedBy(code: number): ModelError {
  return new ModelError('unavailable', `The model service closed the WebSocket with code ${code}`);
}

/** The library names by its code what a service did wrong. */
function faultOf(error: Error & { readonly code?: string }): Error {
  if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
    return badAnswer('The model service sent a message larger than 32 MB', error);
  if (error.code?.startsWith('WS_ERR_'))
    return badAnswer('The model service sent bytes that are no WebSocket frames', error);
  return error;
}

function badAnswer(message: string, cause: Error): ModelError {
  return new ModelError('bad_response', message, { cause });
}
