import { BodyMemory } from '@groundcrew/models';
import { HistoryReader } from '../turn/history-reader.js';

/** What the calls of a conversation have in common: messages of earlier ones are those of the next, and are written alike. */
export interface CommonParts {
  readonly reader: HistoryReader;
  readonly memory: BodyMemory;
}

/** Keeps what calls have in common while they come one soon after the other; a session that rests keeps nothing. */
export class CallMemory {
  private parts: CommonParts | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** For the next call. */
  use(): CommonParts {
    this.parts ??= { reader: new HistoryReader(), memory: new BodyMemory() };
    if (this.timer) this.timer.refresh();
    else this.timer = setTimeout(() => this.forget(), keptFor).unref();
    return this.parts;
  }

  private forget(): void {
    this.parts = undefined;
    this.timer = undefined;
  }
}

const keptFor = 5_000;
