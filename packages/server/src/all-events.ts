import { RawPieces } from '@groundcrew/rpc';
import type { Session } from '@groundcrew/runtime';
import type { ClientDialect } from './dialect/client-dialect.js';
import { Refusal } from './failure.js';

/** What a frame may have, less what stands around the events. */
const mostBytes = 255 * 1024 * 1024;
const pieceLength = 256 * 1024;

/** All events of a session that its clients see, in order: read, turned into bytes and sent in pieces. */
export async function allEvents(session: Session, dialect: ClientDialect): Promise<RawPieces> {
  const list = new EventList();
  const idles = [...dialect.idles.of(session.sessionId)];
  try {
    for await (const batch of session.read()) {
      for (const record of batch) {
        while (idles[0] && idles[0].after < record.seq) list.add(idles.shift()?.json ?? '');
        const event = record.isPublic ? dialect.event(record) : undefined;
        if (event !== undefined) list.add(event);
      }
    }
  } catch (error) {
    // A client that opened a damaged session was warned, and is sent what can be read.
    if (!session.isReadOnly || error instanceof Refusal) throw error;
  }
  for (const { json } of idles) list.add(json);
  return list.end();
}

/** A list of events as JSON, in pieces. */
class EventList {
  private readonly pieces: Buffer[] = [];
  private text = '{"events":[';
  private bytes = 0;
  private isEmpty = true;

  add(json: string): void {
    this.text += this.isEmpty ? json : `,${json}`;
    this.isEmpty = false;
    if (this.text.length >= pieceLength) this.cut();
  }

  end(): RawPieces {
    this.text += ']}';
    this.cut();
    return new RawPieces(this.pieces);
  }

  private cut(): void {
    const piece = Buffer.from(this.text);
    this.text = '';
    this.bytes += piece.length;
    if (this.bytes > mostBytes) throw new Refusal(tooMuch);
    this.pieces.push(piece);
  }
}

const tooMuch =
  'The events of this session take more than 255 MB, more than an answer may have; read them in pages with session.eventLog.read';
