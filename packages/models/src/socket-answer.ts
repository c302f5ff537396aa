import { AnswerBody } from '@groundcrew/http-client';
import type { WebSocket } from 'ws';
import { ModelError } from './errors.js';
import type { TimeLimits } from './exchange.js';

/** What a service answers over a WebSocket of its own: messages, up to the end of the socket. */
export class SocketAnswer {
  readonly #socket: WebSocket;
  readonly #body: AnswerBody;
  #idleLimit = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: () => void = () => undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    const resume = () => {
      socket.resume();
      this.#wait();
    };
    const pause = () => {
      clearTimeout(this.#timer);
      socket.pause();
    };
    this.#body = new AnswerBody({ pause, resume, cancel: () => this.#end() }, 'messages');
    socket.on('message', (data: Buffer) => {
      this.#wait();
      this.#body.add(data);
    });
    socket.on('error', (error) => this.#fail(faultOf(error)));
    socket.on('close', (code) => this.#close(code));
  }

  /** The messages, as they come; leaving early closes the socket. */
  read({ firstByte, idle }: TimeLimits, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const abort = () => this.#fail(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.#stopListening = () => signal.removeEventListener('abort', abort);
    this.#idleLimit = idle;
    if (signal.aborted) abort();
    else this.#failAfter(firstByte, 'did not answer');
    return this.#body;
  }

  #wait(): void {
    if (this.#idleLimit > 0) this.#failAfter(this.#idleLimit, 'stopped sending its answer');
  }

  #failAfter(milliseconds: number, what: string): void {
    clearTimeout(this.#timer);
    const text = `The model service ${what} within ${milliseconds / 1000} seconds`;
    this.#timer = setTimeout(() => this.#fail(new ModelError('timeout', text)), milliseconds);
  }

  /** Without a code (1005), and when the connection just ends (1006), the answer itself shows whether it is complete. */
  #close(code: number): void {
    this.#settle();
    if ([1000, 1001, 1005, 1006].includes(code)) this.#body.end();
    else
      this.#body.fail(
        new ModelError('unavailable', `The model service closed the WebSocket with code ${code}`),
      );
  }

  #fail(error: unknown): void {
    this.#settle();
    this.#body.fail(error);
    this.#socket.terminate();
  }

  #end(): void {
    this.#settle();
    // What is still on its way must be read, or the service's goodbye is not.
    this.#socket.resume();
    this.#socket.close(1000);
  }

  #settle(): void {
    this.#idleLimit = 0;
    clearTimeout(this.#timer);
    this.#stopListening();
  }
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
