import { open } from 'node:fs/promises';

/** How secrets are redacted, in a text and in a value. */
export interface Redactor {
  text(text: string): string;
  value(value: unknown): unknown;
}

/** What is redacted: words of a text, fields of events too, or nothing. */
export type Redaction = 'plain-text' | 'events-jsonl' | 'none';

/** Characters after which others have their turn. */
const stretch = 256 * 1024;

/** Writes lines with their secrets redacted, for the owner alone; resolves with how many bytes they are. */
export async function writeRedacted(
  path: string,
  lines: AsyncIterable<string>,
  how: { readonly redaction: Redaction; readonly redactor: Redactor; readonly signal: AbortSignal },
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
      waiting += `${redacted(line, how)}\n`;
      if (waiting.length > stretch) await flush();
    }
    await flush();
    return size;
  } finally {
    await file.close();
  }
}

function redacted(
  line: string,
  { redaction, redactor }: { readonly redaction: Redaction; readonly redactor: Redactor },
): string {
  if (redaction === 'none' || line === '') return line;
  if (redaction === 'plain-text') return redactor.text(line);
  try {
    return JSON.stringify(redactor.value(JSON.parse(line)));
  } catch {
    // A line that is no event is a text.
    return redactor.text(line);
  }
}
