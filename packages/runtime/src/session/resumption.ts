import { isDeepStrictEqual } from 'node:util';
import type { SessionContext } from '../store/session-store.js';
import type { Draft } from './log.js';
import type { SessionState } from './shape.js';

/** What a client that comes back names anew; what it leaves out stays as it was. */
export interface ResumeChanges {
  readonly model?: string;
  readonly reasoningEffort?: string;
  readonly workingDirectory?: string;
}

/** How a client came back. */
export interface Resumption {
  readonly changes: ResumeChanges;
  /** Where the session works from now on, if the client named another directory. */
  readonly context?: SessionContext;
  readonly wasActive: boolean;
  readonly continuePendingWork: boolean;
  /** Nobody is told but of what changes. */
  readonly isSilent: boolean;
}

/** What the log says of a client that came back, and of what it wants otherwise. */
export function resumeDrafts(
  state: SessionState,
  how: Resumption,
  now: { readonly time: string; readonly model: string },
): readonly Draft[] {
  const changed = modelChange(state, how.changes, now.model);
  if (!how.isSilent) return [resumed(state, how, now), ...changed];
  const isElsewhere = how.context && !isDeepStrictEqual(how.context, state.context);
  return [
    ...(isElsewhere ? [{ type: 'session.context_changed' as const, data: how.context }] : []),
    ...changed,
  ];
}

function resumed(
  state: SessionState,
  how: Resumption,
  now: { readonly time: string; readonly model: string },
): Draft {
  return {
    type: 'session.resume',
    data: {
      resumeTime: now.time,
      eventCount: state.eventCount,
      context: how.context ?? state.context,
      contextTier: null,
      sessionLimits: null,
      remoteSteerable: false,
      alreadyInUse: false,
      sessionWasActive: how.wasActive,
      continuePendingWork: how.continuePendingWork,
      selectedModel: how.changes.model ?? now.model,
    },
  };
}

function modelChange(state: SessionState, changes: ResumeChanges, model: string): readonly Draft[] {
  const newModel = changes.model ?? state.model ?? model;
  const reasoningEffort = changes.reasoningEffort ?? state.reasoningEffort;
  const isSame =
    (changes.model === undefined || changes.model === state.model) &&
    reasoningEffort === state.reasoningEffort;
  if (isSame) return [];
  return [
    {
      type: 'session.model_change',
      data: {
        newModel,
        reasoningEffort: reasoningEffort ?? null,
        source: 'sdk',
        ...(state.model !== undefined && { previousModel: state.model }),
        ...(state.reasoningEffort !== undefined && { previousReasoningEffort: state.reasoningEffort }),
      },
    },
  ];
}
