import { Readable, Writable } from 'node:stream';
import { MessageTooLargeError, ndJsonStream } from '@agentclientprotocol/sdk';
import { EditorAgent } from './agent.js';
import type { EditorContext } from './editor-context.js';

/** A longer message is no line of a conversation; a picture of 20 MiB fits. */
const mostMessageMiB = 32;

/**
 * Serves one editor on these streams; resolves when it has closed its end, or the signal says so. Throws where it has sent what
 * is too long to be read: what comes behind that is lost.
 */
export async function serveEditor(
  context: EditorContext,
  streams: { readonly input: Readable; readonly output: Writable },
  signal: AbortSignal,
): Promise<void> {
  const output = Writable.toWeb(streams.output) as WritableStream<Uint8Array>;
  const input = Readable.toWeb(streams.input) as ReadableStream<Uint8Array>;
  const connection = new EditorAgent(context)
    .app()
    .connect(ndJsonStream(output, input, { maxMessageBytes: mostMessageMiB * 1024 * 1024 }));
  const stop = () => connection.close();
  signal.addEventListener('abort', stop, { once: true });
  await connection.closed;
  signal.removeEventListener('abort', stop);
  const reason: unknown = connection.signal.reason;
  if (reason instanceof MessageTooLargeError)
    throw new Error(
      `The editor has sent a message of more than ${mostMessageMiB} MiB: send larger files by their path`,
    );
}
