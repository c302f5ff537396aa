import { createReadStream } from 'node:fs';
import { type EventType, events as known, type SessionEvent } from '@groundcrew/protocol';

/** What is there cannot be imported. */
export class CannotImport extends Error {
  override readonly name = 'CannotImport';
}

/** No event of a session is longer; what is parsed at once holds the thread. */
const longestLine = 64 * 1024 * 1024;
const mostWarnings = 20;
const lineFeed = 0x0a;

/** The lines of a file of events, one by one. */
export class EventLines {
  events = 0;
  private readonly said: string[] = [];
  private unsaid = 0;

  constructor(
    private readonly file: string,
    private readonly options: {
      readonly size: number;
      onProgress?: ((progress: { readonly bytes: number; readonly of: number }) => void) | undefined;
    },
  ) {}

  /** What was left out, and why. */
  get warnings(): readonly string[] {
    return this.unsaid === 0 ? this.said : [...this.said, `and ${this.unsaid} more lines`];
  }

  /**
   * The last line may have been broken off by a crash of its writer, and events that come a second time are left out; any other
   * line must be an event. Throws CannotImport.
   */
  async *lines(): AsyncGenerator<{ readonly event: SessionEvent; readonly line: string }> {
    const { file, options } = this;
    const seen = new Set<string>();
    let number = 0;
    let broken: string | undefined;
    for await (const { line, bytes } of linesOf(file)) {
      number += 1;
      if (line.trim() === '') continue;
      if (broken !== undefined) throw new CannotImport(broken);
      const event = parseEvent(line);
      if (event === undefined) {
        broken = `Line ${number} of ${file} is no event`;
        continue;
      }
      if (typeof event === 'string') throw new CannotImport(`Line ${number} of ${file} ${event}`);
      if (seen.has(event.id)) {
        this.warn(`Line ${number} of ${file} has an event that came before: it is left out`);
        continue;
      }
      seen.add(event.id);
      this.events += 1;
      options.onProgress?.({ bytes, of: options.size });
      yield { event, line };
    }
    if (broken !== undefined) this.warn(`${broken}: it was broken off, and is left out`);
    if (this.events === 0) throw new CannotImport(`There are no events in ${file}`);
  }

  private warn(warning: string): void {
    if (this.said.length < mostWarnings) this.said.push(warning);
    else this.unsaid += 1;
  }
}

/** The event that a file begins with; undefined when its first line is none. Throws CannotImport. */
export async function firstEvent(file: string): Promise<SessionEvent | undefined> {
  for await (const { line } of linesOf(file)) {
    const event = parseEvent(line);
    if (typeof event === 'string') throw new CannotImport(`Line 1 of ${file} ${event}`);
    return event;
  }
  return undefined;
}

/** Lines end with a line feed and nothing else: other separators may stand in texts. */
async function* linesOf(file: string): AsyncGenerator<{ readonly line: string; readonly bytes: number }> {
  let parts: Buffer[] = [];
  let length = 0;
  let bytes = 0;
  let number = 1;
  const take = () => {
    const line = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
    parts = [];
    length = 0;
    return { line: number++ === 1 ? line.replace(/^\ufeff/, '') : line, bytes };
  };
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, from)) {
      parts.push(chunk.subarray(from, end));
      bytes += end + 1 - from;
      from = end + 1;
      yield take();
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    bytes += chunk.length - from;
    if (length > longestLine)
      throw new CannotImport(`Line ${number} of ${file} is too long for an event: over 64 MiB`);
  }
  if (length > 0) yield take();
}

/** The event, or what is wrong with it; undefined for a line that is none at all. */
function parseEvent(line: string): SessionEvent | string | undefined {
  const event = parsed(line);
  if (!event) return undefined;
  const { type, id, timestamp, parentId, agentId, data } = event;
  if (typeof type !== 'string' || typeof id !== 'string' || id === '' || typeof data !== 'object' || !data)
    return 'is no event';
  if (typeof timestamp !== 'string' || !isTime(timestamp)) return `is an event of no time: ${type}`;
  if (!isTextOrAbsent(parentId) || !isTextOrAbsent(agentId)) return `is no event: ${type}`;
  if (!Object.hasOwn(known, type)) return event as unknown as SessionEvent;
  const result = known[type as EventType].data().safeParse(data, { jitless: true });
  if (result.success) return event as unknown as SessionEvent;
  const [issue] = result.error.issues;
  return `is not what a ${type} says: ${issue?.path.join('.')} is wrong`;
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Lists of sessions are read by clients that take no other dates. */
function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(Date.parse(text));
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'string';
}
