import type { EventOf, SessionEvent } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';
import { type Cut, cutAt } from '../log/cut.js';
import type { RemovedRange } from '../log/removed-records.js';
import type { SessionState } from '../log/state.js';

/** The past cannot be cut there. */
export class CannotRewind extends Error {
  override readonly name = 'CannotRewind';
}

/** Where the conversation would be cut; a rewind goes to prompts only. Throws CannotRewind. */
export async function promptCut(
  records: AsyncIterable<readonly LogRecord[]>,
  eventId: string,
  removed: readonly RemovedRange[],
): Promise<Cut> {
  const cut = await cutAt(records, eventId, removed);
  if (!cut?.event || !isPrompt(cut.event))
    throw new CannotRewind(`Rewind event '${eventId}' is not a current root user turn`);
  return cut;
}

/** A prompt to which the session can be taken back. */
export interface RewindPoint {
  readonly eventId: string;
  readonly userMessage: string;
  readonly timestamp: string;
  readonly isAutopilotContinuation: boolean;
  readonly canRestoreFiles: boolean;
  /** Files that would be put back. */
  readonly fileCount: number;
  /** This prompt's own turn wrote files. */
  readonly turnChangedFiles: boolean;
  readonly linesAdded: number;
  readonly linesRemoved: number;
}

/** The prompts among the records that readers see, the oldest first, and the files that would go back with each. */
export async function rewindPoints(
  records: AsyncIterable<readonly LogRecord[]>,
  { state, isTracking }: { readonly state: SessionState; readonly isTracking: boolean },
): Promise<readonly RewindPoint[]> {
  const prompts: EventOf<'user.message'>[] = [];
  for await (const batch of records)
    for (const record of batch) {
      const event = record.type === 'user.message' ? (JSON.parse(record.json) as SessionEvent) : undefined;
      if (event && isPrompt(event)) prompts.push(event);
    }
  return pointsOf(prompts, isTracking ? state : { fileChanges: [] });
}

/** A prompt of the user that begins a turn: a rewind goes to these only. */
function isPrompt(event: SessionEvent): event is EventOf<'user.message'> {
  return event.type === 'user.message' && event.agentId === undefined && event.data.delivery !== 'steering';
}

function pointsOf(
  prompts: readonly EventOf<'user.message'>[],
  { fileChanges, hasForgottenChanges = false }: Pick<SessionState, 'fileChanges' | 'hasForgottenChanges'>,
): readonly RewindPoint[] {
  const later = new Set<string>();
  let isForgotten = false;
  const points = prompts.toReversed().map((prompt): RewindPoint => {
    isForgotten ||= hasForgottenChanges && fileChanges[0]?.promptId === prompt.id;
    const own = fileChanges.filter(({ promptId }) => promptId === prompt.id);
    for (const { real } of own) later.add(real);
    const sum = (of: 'linesAdded' | 'linesRemoved') => own.reduce((total, change) => total + change[of], 0);
    return {
      eventId: prompt.id,
      userMessage: prompt.data.content,
      timestamp: prompt.timestamp,
      isAutopilotContinuation: prompt.data.isAutopilotContinuation ?? false,
      canRestoreFiles: later.size > 0 && !isForgotten,
      fileCount: later.size,
      turnChangedFiles: own.length > 0,
      linesAdded: sum('linesAdded'),
      linesRemoved: sum('linesRemoved'),
    };
  });
  return points.reverse();
}
