import { isDeepStrictEqual } from 'node:util';
import type { SessionContext } from '@groundcrew/store';
import { limitsChanged, type SessionLimits } from '../budget/limits.js';
import type { Draft } from '../log/session-log.js';
import { openQuestions, type SessionState } from '../log/state.js';
import { newlyFixed, serverNames } from '../settings/provider-settings.js';
import type { SessionSettings } from '../settings/session-settings.js';
import { disallowedModel } from '../turn/allowed-models.js';
import type { Planner } from '../turn/planner.js';
import type { Attachment } from './audience.js';
import type { Conversation } from './conversation.js';

/** What a client that comes back names anew; what it leaves out stays as it was. */
export interface ResumeChanges {
  readonly model?: string;
  readonly reasoningEffort?: string;
  readonly workingDirectory?: string;
  /** What the session may spend from now on. */
  readonly limits?: SessionLimits;
}

/** What a client opens a session with. */
export interface OpenRequest {
  readonly sessionId: string;
  /** What the session goes by from now on, made from what it went by before. */
  settings(before: SessionSettings | undefined): SessionSettings;
  readonly attachment: Attachment;
  /** The agent that is to lead. */
  readonly agent?: string;
  /** What of the client's options has no effect. */
  readonly warnings: readonly string[];
}

/** What a client comes back with. */
export interface ResumeRequest extends OpenRequest {
  readonly changes: ResumeChanges;
  readonly continuePendingWork: boolean;
  readonly isSilent: boolean;
  readonly takeOver: boolean;
  /** Calls may run unasked although the client with the session's hooks is not attached. */
  readonly waivesHooks?: boolean;
}

/** How a client came back. */
export interface Resumption {
  readonly changes: ResumeChanges;
  /** Where the session works from now on, if the client named another directory. */
  readonly context?: SessionContext;
  readonly wasActive: boolean;
  readonly continuePendingWork: boolean;
  /** Only what changes is published. */
  readonly isSilent: boolean;
}

/**
 * A client comes back to a session that this process had not closed. True when its turn runs on.
 * Without `continuePendingWork`, a call whose tool the client declares anew is closed: its old handler is gone.
 */
export async function settlePending(
  conversation: Conversation,
  how: { readonly attachment: Attachment; readonly continuePendingWork: boolean },
): Promise<boolean> {
  if (!conversation.isRunning) return false;
  if (how.continuePendingWork) return true;
  const declared = new Set(how.attachment.tools.map((tool) => tool.name));
  const isSuperseded = openQuestions(conversation.log.state).some(
    (question) => question.kind === 'external_tool' && declared.has(question.event.toolName),
  );
  if (isSuperseded) await conversation.supersede();
  return !isSuperseded;
}

/** The events of a resume: that a client came back, and which settings it changed. */
export function resumeDrafts(
  state: SessionState,
  how: Resumption,
  now: { readonly time: string; readonly planner: Planner },
): readonly Draft[] {
  const model = now.planner.model(state);
  const fixed = newlyFixed(state.fixed, now.planner.settings);
  const refused = how.changes.model === undefined ? undefined : disallowedModel(state, how.changes.model);
  const changes = refused === undefined ? how.changes : { ...how.changes, model: undefined };
  return [
    ...(fixed ? [{ note: 'settings.fixed' as const, data: fixed }] : []),
    { type: 'session.tools_updated', data: { model } },
    ...(how.isSilent ? moved(state, how) : [resumed(state, { ...how, changes }, { time: now.time, model })]),
    ...modelChange(state, changes, model),
    ...limitsChange(state, changes),
    ...effortWarning(changes, now.planner, model),
    ...(refused === undefined ? [] : [warning(refused)]),
    ...lostServers(state, now.planner.settings),
  ];
}

/** A model that takes no reasoning effort is asked all the same, and users learn of it. */
function effortWarning(changes: ResumeChanges, planner: Planner, model: string): readonly Draft[] {
  const message = planner.warningAboutEffort(changes.model ?? model, changes.reasoningEffort);
  return message === undefined ? [] : [warning(message)];
}

/** Servers that a client gave the session in another process are there when a client names them again. */
function lostServers({ fixed }: SessionState, settings: SessionSettings): readonly Draft[] {
  const named = serverNames(settings);
  const lost = fixed.mcpServerNames?.filter((name) => !named.includes(name)) ?? [];
  if (lost.length === 0) return [];
  const names = lost.map((name) => JSON.stringify(name.slice(0, 80))).join(', ');
  const message = `The session goes on without the MCP servers ${names}: what a client says of a server is not stored, for it may hold secrets. A client that resumes with them in mcpServers brings them back.`;
  return [warning(message)];
}

function warning(message: string): Draft {
  return { type: 'session.warning', data: { warningType: 'configuration', message } };
}

function moved(state: SessionState, { context }: Resumption): readonly Draft[] {
  const isElsewhere = context && !isDeepStrictEqual(context, state.context);
  return isElsewhere ? [{ type: 'session.context_changed', data: context }] : [];
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
      ...limitsChanged(how.changes.limits ?? state.limits),
      remoteSteerable: false,
      alreadyInUse: false,
      sessionWasActive: how.wasActive,
      continuePendingWork: how.continuePendingWork,
      selectedModel: how.changes.model ?? now.model,
    },
  };
}

function limitsChange({ limits: before }: SessionState, { limits }: ResumeChanges): readonly Draft[] {
  if (!limits || isDeepStrictEqual(limits, before)) return [];
  return [{ type: 'session.session_limits_changed', data: limitsChanged(limits) }];
}

export function modelChange(state: SessionState, changes: ResumeChanges, model: string): readonly Draft[] {
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
