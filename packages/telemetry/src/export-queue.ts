import { setTimeout as pause } from 'node:timers/promises';
import { type Exporter, type Rejection, TryLater } from './exporter.js';
import type { Meter } from './meter.js';
import type { TelemetrySettings } from './settings.js';
import { type EndedSpan, now } from './span.js';

interface QueueParts {
  readonly exporter: Exporter;
  readonly meter: Meter;
  readonly settings: TelemetrySettings;
  warn(message: string): void;
}

/** What waits to be exported takes no more memory than this, by the length of its text. */
const mostCharacters = 32 * 1024 * 1024;
const mostAttempts = 5;
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;
/** The end of the program waits so long for the last of it. */
const closingMs = 2_000;

/** Holds spans until they are exported. It is bounded: what does not fit is dropped and counted, and no caller waits. */
export class ExportQueue {
  private waiting: EndedSpan[] = [];
  private size = 0;
  private timer: NodeJS.Timeout | undefined;
  private sending: Promise<void> | undefined;
  private readonly metricsTimer: NodeJS.Timeout;
  private readonly closing = new AbortController();
  /** The end has come: what waits to try again tries now, for the last time. */
  private readonly hurry = new AbortController();
  private isFailing = false;
  private readonly hasWarnedOf = new Set<string>();
  private isClosing = false;

  constructor(private readonly parts: QueueParts) {
    this.metricsTimer = setInterval(() => void this.sendMetrics(), parts.settings.metricsIntervalMs);
    this.metricsTimer.unref();
  }

  add(span: EndedSpan): void {
    const { batch } = this.parts.settings;
    const length = lengthOf(span);
    if (this.waiting.length >= batch.mostQueued || this.size + length > mostCharacters) {
      this.drop(1);
      return;
    }
    this.waiting.push(span);
    this.size += length;
    if (this.waiting.length >= batch.mostAtOnce) void this.flush();
    else this.timer ??= setTimeout(() => void this.flush(), batch.delayMs).unref();
  }

  /** Sends all that waits, batch after batch, and the metrics; gives up on what takes too long. */
  async close(): Promise<void> {
    clearInterval(this.metricsTimer);
    clearTimeout(this.timer);
    const limit = setTimeout(() => this.closing.abort(), closingMs);
    this.isClosing = true;
    this.hurry.abort();
    await this.flush();
    await this.sendMetrics();
    clearTimeout(limit);
    this.closing.abort();
    await this.parts.exporter.close().catch(() => undefined);
  }

  private flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
    });
    return this.sending;
  }

  private async sendAll(): Promise<void> {
    const { mostAtOnce } = this.parts.settings.batch;
    while (this.waiting.length > 0) {
      const batch = this.waiting.slice(0, mostAtOnce);
      // They count as waiting until they are gone: a collector that hangs makes the queue full, not the memory.
      const isSent = await this.send(batch);
      this.waiting.splice(0, batch.length);
      this.size = this.waiting.reduce((sum, span) => sum + lengthOf(span), 0);
      if (!isSent) this.drop(batch.length);
    }
  }

  private async send(batch: readonly EndedSpan[]): Promise<boolean> {
    const { exporter } = this.parts;
    const { signal } = this.closing;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        const rejected = await exporter.sendSpans(batch, signal);
        this.isFailing = false;
        if (rejected) this.note(rejected, 'spans');
        return true;
      } catch (error) {
        this.complain(error);
        if (!(error instanceof TryLater) || attempt >= mostAttempts || this.isClosing) return false;
        const wait = Math.min(error.afterMs ?? firstPauseMs * 2 ** (attempt - 1), longestPauseMs);
        await pause(wait, undefined, { signal: this.hurry.signal, ref: false }).catch(hurried);
      }
    }
    return false;
  }

  private async sendMetrics(): Promise<void> {
    const { exporter, meter } = this.parts;
    const moment = { startedAt: meter.startedAt, at: now() };
    try {
      const rejected = await exporter.sendMetrics(meter.read(), moment, this.closing.signal);
      if (rejected) this.note(rejected, 'points of metrics');
    } catch (error) {
      this.complain(error);
    }
  }

  /** Warns once about what a collector rejects; spans are counted each time. They are not sent again, because the collector has seen them. */
  private note({ count, message }: Rejection, what: 'spans' | 'points of metrics'): void {
    if (what === 'spans') this.drop(count);
    if (this.hasWarnedOf.has(what)) return;
    this.hasWarnedOf.add(what);
    const reason = message === '' ? 'it does not say why' : message;
    this.parts.warn(`${this.parts.exporter.name} rejected ${count} ${what} of telemetry: ${reason}`);
  }

  private drop(count: number): void {
    this.parts.meter.record('dropped', count);
  }

  /** Once, until it works again. */
  private complain(error: unknown): void {
    if (this.isFailing || this.closing.signal.aborted) return;
    this.isFailing = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.parts.warn(`Telemetry cannot be exported to ${this.parts.exporter.name}: ${reason}`);
  }
}

function lengthOf({ attributes, events }: EndedSpan): number {
  let length = 500 + events.length * 200;
  for (const value of Object.values(attributes)) if (typeof value === 'string') length += value.length;
  return length;
}

/** The program ends: the last attempt is made now. */
const hurried = (): undefined => undefined;
