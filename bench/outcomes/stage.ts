import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEvent, EventData } from '@groundcrew/protocol';
import { type RuleModel, type WireClient, WireSession } from '@groundcrew/testkit';
import { lastWord, lookTool, settingsFor } from './model.js';
import { type StartOptions, type Subject, SubjectProcess } from './subject.js';

/** Where one runtime is looked at: its command, a model that outlives it, and room for homes. */
export class Stage {
  constructor(
    readonly subject: Subject,
    readonly model: RuleModel,
    private readonly root: string,
  ) {}

  newHome(): string {
    return mkdtempSync(join(this.root, 'home-'));
  }

  start(options: StartOptions): SubjectProcess {
    return new SubjectProcess(this.subject, options);
  }

  /** What every session is opened with. */
  settings(more: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
    return { ...settingsFor(this.model), streaming: true, tools: [lookTool], ...more };
  }
}

/** Approves every permission question from now on, for as long as one comes. */
export async function approveAll(client: WireClient, sessionId: string): Promise<void> {
  const session = new WireSession(client, sessionId, client.events(sessionId).length);
  while (await comes(session.next('permission.requested').then(approve)));

  async function approve({ data }: { readonly data: { readonly requestId: string } }): Promise<void> {
    await session.decide(data.requestId, { kind: 'approve-once' });
  }
}

/** Durable events, which a client may rely on. */
export function durable(events: readonly AnyEvent[]): readonly AnyEvent[] {
  return events.filter(({ ephemeral }) => !ephemeral);
}

/** How many of the events are among the others; whether they are the same to the letter is not asked. */
export function found(events: readonly AnyEvent[], among: readonly AnyEvent[]): number {
  const ids = new Set(among.map(({ id }) => id));
  return events.filter(({ id }) => ids.has(id)).length;
}

/** The model's last word in a turn. */
export function isLastWord(event: AnyEvent): boolean {
  if (event.type !== 'assistant.message') return false;
  return (event.data as EventData<'assistant.message'>).content.endsWith(lastWord);
}

/** Whether it came to pass before patience ran out. */
export async function comes(hope: Promise<unknown>): Promise<boolean> {
  return hope.then(
    () => true,
    () => false,
  );
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
