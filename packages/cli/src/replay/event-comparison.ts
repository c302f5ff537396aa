import { isDeepStrictEqual } from 'node:util';
import type { SessionEvent } from '@groundcrew/sdk';

/** Where a replay left what was recorded. */
export interface Difference {
  /** The number of the event, from 1. */
  readonly number: number;
  readonly recorded?: Plain;
  readonly replayed?: Plain;
  /** The first field that differs, if both are there. */
  readonly field?: string;
}

/** An event without what no two runs have in common. */
export interface Plain {
  readonly type: string;
  readonly data: unknown;
}

/** What is expected of a replay. */
export interface EventComparisonOptions {
  /** The recording ends in the middle of a turn. */
  readonly mayGoOn: boolean;
  /** Where the session worked then, and works now: what was played back names the one, what is new the other. */
  readonly directories: readonly string[];
  onDifference(): void;
}

/** Receives the events of a replay against those recorded, and says when a place has been reached. */
export class EventComparison {
  difference: Difference | undefined;
  private received = 0;
  private readonly recordedIds: Ids;
  private readonly replayedIds: Ids;
  private readonly waiting: { readonly place: number; resolve(): void; reject(error: Error): void }[] = [];
  private isStopped = false;

  constructor(
    private readonly events: readonly SessionEvent[],
    private readonly options: EventComparisonOptions,
  ) {
    this.recordedIds = new Ids(options.directories);
    this.replayedIds = new Ids(options.directories);
  }

  /** How many events were the same. */
  get agreed(): number {
    return this.difference ? this.difference.number - 1 : Math.min(this.received, this.events.length);
  }

  receive(event: SessionEvent): void {
    if (this.difference) return;
    const recorded = this.events[this.received];
    this.received += 1;
    if (!recorded && this.options.mayGoOn) return;
    this.compare(recorded, event);
    for (const each of this.waiting) if (this.received >= each.place) each.resolve();
  }

  /** Nothing more will come. */
  end(): void {
    const missing = this.events[this.received];
    if (!this.difference && missing) this.differ({ recorded: this.recordedIds.plain(missing) });
  }

  /** Releases all waiting callers: no further place will be reached. */
  stop(): void {
    this.isStopped = true;
    for (const { reject } of this.waiting) reject(new ReplayStopped());
  }

  /** Resolves when all that was recorded before this place has happened again; rejects when it will not. */
  async reached(place: number): Promise<void> {
    if (this.isStopped) throw new ReplayStopped();
    if (this.received >= place) return;
    await new Promise<void>((resolve, reject) => this.waiting.push({ place, resolve, reject }));
  }

  private compare(recorded: SessionEvent | undefined, event: SessionEvent): void {
    const replayed = this.replayedIds.plain(event);
    const expected = recorded && this.recordedIds.plain(recorded);
    if (isDeepStrictEqual(expected, replayed)) return;
    const field = expected?.type === replayed.type ? firstField(expected, replayed) : 'type';
    this.differ({ replayed, ...(expected && { recorded: expected, field }) });
  }

  private differ(difference: Omit<Difference, 'number'>): void {
    const number = this.received + (difference.replayed ? 0 : 1);
    this.difference = { number, ...difference };
    this.options.onDifference();
  }
}

/** The replay goes no further. */
export class ReplayStopped extends Error {
  override readonly name = 'ReplayStopped';
}

/** Ids by the order they turn up in, times by a word. */
class Ids {
  private readonly known = new Map<string, string>();

  constructor(private readonly directories: readonly string[]) {}

  plain({ type, data }: SessionEvent): Plain {
    return { type, data: this.value(data) };
  }

  private value(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (Array.isArray(value)) return value.map((each) => this.value(each));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value).filter(([name, each]) => each !== undefined && !ofOneRun.has(name));
    return Object.fromEntries(fields.map(([name, each]) => [name, this.value(each)]));
  }

  private text(text: string): string {
    return this.directories
      .reduce((rest, directory) => rest.replaceAll(directory, '<working directory>'), text)
      .replaceAll(uuid, (id) => this.numbered(id))
      .replaceAll(time, '<time>');
  }

  private numbered(id: string): string {
    const number = this.known.get(id) ?? `<id ${this.known.size + 1}>`;
    this.known.set(id, number);
    return number;
  }
}

const uuid = /\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/gi;
const time = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** The session is another one, and so is its trace. */
const ofOneRun: ReadonlySet<string> = new Set(['sessionId', 'traceparent', 'tracestate']);

/** The path of the first field in which two values differ. */
function firstField(one: unknown, other: unknown, path = ''): string {
  if (!hasFields(one) || !hasFields(other)) return path;
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (!isDeepStrictEqual(one[name], other[name]))
      return firstField(one[name], other[name], path === '' ? name : `${path}.${name}`);
  }
  return path;
}

function hasFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
