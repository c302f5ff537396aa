import { open } from 'node:fs/promises';

/** How secrets are covered, in a text and in a value. */
export interface Covering {
  text(text: string): string;
  value(value: unknown): unknown;
}

/** What is covered: words of a text, fields of events too, or nothing. */
export type Redaction = 'plain-text' | 'events-jsonl' | 'none';

/** Characters after which others have their turn. */
const stretch = 256 * 1024;

/** Writes lines with their secrets covered, for the owner alone; resolves with how many bytes they are. */
export async function writeCovered(
  path: string,
  lines: AsyncIterable<string>,
  how: { readonly redaction: Redaction; readonly covering: Covering; readonly signal: AbortSignal },
): Promise<number> {
  const file = await open(path, 'w', 0o600);
  let size = 0;
  try {
    let waiting = '';
    const flush = async () => {
      how.signal.throwIfAborted();
      const bytes = Buffer.from(waiting);
      waiting = '';
      size += bytes.byteLength;
      await file.writeFile(bytes);
    };
    for await (const line of lines) {
      waiting += `${covered(line, how)}\n`;
      if (waiting.length > stretch) await flush();
    }
    await flush();
    return size;
  } finally {
    await file.close();
  }
}

function covered(
  line: string,
  { redaction, covering }: { readonly redaction: Redaction; readonly covering: Covering },
): string {
  if (redaction === 'none' || line === '') return line;
  if (redaction === 'plain-text') return covering.text(line);
  try {
    return JSON.stringify(covering.value(JSON.parse(line)));
  } catch {
    // A line that is no event is a text.
    return covering.text(line);
  }
}
