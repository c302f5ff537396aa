import { type Instrument, type InstrumentName, instruments } from './names.js';
import { type Attributes, now } from './span.js';

/** What was measured under one set of attributes. */
export interface Point {
  readonly attributes: Attributes;
  count: number;
  sum: number;
  min: number;
  max: number;
  /** One more than there are bounds. */
  readonly buckets: number[];
}

/** All points of one instrument. */
export interface Measured {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  /** Absent for a counter, of which only the sum counts. */
  readonly bounds?: readonly number[];
  readonly points: readonly Point[];
}

/** One instrument counts so many sets of attributes apart; more are counted together. */
const mostPoints = 1000;

/** Characters of one attribute. */
const longestLabel = 256;

/** Counts and measures, from the start of the process on. */
export class Meter {
  readonly startedAt = now();
  private readonly points = new Map<InstrumentName, Map<string, Point>>();

  /** `mask` covers what is secret in a text. */
  constructor(private readonly mask: (text: string) => string) {}

  /** A value of a histogram, or what a counter grows by. */
  record(instrument: InstrumentName, value: number, attributes: Attributes = {}): void {
    // A clock that is set back makes a duration less than nothing: it would turn the sum back.
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) return;
    const point = this.pointOf(instrument, this.shown(attributes));
    const { bounds = [] }: Instrument = instruments[instrument];
    const reached = bounds.findIndex((bound) => value <= bound);
    const bucket = reached < 0 ? bounds.length : reached;
    point.buckets[bucket] = (point.buckets[bucket] ?? 0) + 1;
    point.count += 1;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
  }

  /** Everything so far, in the order of the table of names. */
  read(): readonly Measured[] {
    return (Object.keys(instruments) as InstrumentName[]).flatMap((name) => {
      const points = this.points.get(name);
      return points ? [{ ...instruments[name], points: [...points.values()] }] : [];
    });
  }

  /** Names of models and tools are clients' own words: they may be long, and may hold a secret. */
  private shown(attributes: Attributes): Attributes {
    const entries = Object.entries(attributes).map(([name, value]) => [
      name,
      typeof value === 'string' ? this.mask(value).slice(0, longestLabel) : value,
    ]);
    return Object.fromEntries(entries) as Attributes;
  }

  private pointOf(instrument: InstrumentName, attributes: Attributes): Point {
    const points = this.points.get(instrument) ?? new Map<string, Point>();
    this.points.set(instrument, points);
    const full = points.size >= mostPoints;
    const key = JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));
    const known = points.get(key) ?? (full ? points.get(overflowKey) : undefined);
    if (known) return known;
    const { bounds = [] }: Instrument = instruments[instrument];
    const point: Point = {
      attributes: full ? overflow : attributes,
      count: 0,
      sum: 0,
      min: Number.POSITIVE_INFINITY,
      max: Number.NEGATIVE_INFINITY,
      buckets: new Array<number>(bounds.length + 1).fill(0),
    };
    points.set(full ? overflowKey : key, point);
    return point;
  }
}

const overflow: Attributes = { 'otel.metric.overflow': true };
const overflowKey = 'overflow';
