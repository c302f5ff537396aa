import { Readable, Writable } from 'node:stream';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { EditorAgent } from './agent.js';
import type { EditorContext } from './editor-context.js';

/** Serves one editor on these streams; resolves when it has closed its end, or the signal says so. */
export async function serveEditor(
  context: EditorContext,
  streams: { readonly input: Readable; readonly output: Writable },
  signal: AbortSignal,
): Promise<void> {
  const output = Writable.toWeb(streams.output) as WritableStream<Uint8Array>;
  const input = Readable.toWeb(streams.input) as ReadableStream<Uint8Array>;
  const connection = new EditorAgent(context).app().connect(ndJsonStream(output, input));
  const stop = () => connection.close();
  signal.addEventListener('abort', stop, { once: true });
  await connection.closed;
  signal.removeEventListener('abort', stop);
}
