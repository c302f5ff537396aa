import type { EventData } from '@groundcrew/protocol';
import type { LostCall, Reservation, SettledCall } from '../budget/spending.js';
import type { PermissionChange } from '../permissions/settings.js';
import type { ToolResult } from '../tools/tool.js';
import type { ToolOffer } from '../tools/toolset.js';
import type { AgentTask, TaskChange, TaskMessage } from './agent-task.js';
import type { StopRequest } from './autopilot-state.js';
import type { ClientTask } from './client-task.js';
import type { FileChange } from './file-change.js';
import type { FixedSettings } from './fixed-settings.js';
import type { KeptQuestion } from './open-question.js';
import type { Pinned } from './pinned.js';
import type { EarlierSnapshot } from './snapshot.js';
import type {
  AnswerFormat,
  ModelChange,
  Prompt,
  SentRequest,
  SessionState,
  Verbatim,
  ViewCut,
} from './state.js';

/** The private records: what a session must remember and clients never receive. A closed list. */
export interface Notes {
  /** A sub-agent begins: all that another process needs in order to go on with it. */
  'agent.started': AgentTask;
  'agent.changed': TaskChange;
  /** A message for a sub-agent; its `user.message` takes it up. */
  'agent.messaged': TaskMessage & Pick<AgentTask, 'agentId'>;
  /** A sub-agent that has ended is removed. */
  'agent.removed': Pick<AgentTask, 'agentId'>;
  /** An attempt at the model brought no answer. */
  'ask.lost': LostCall;
  /** What a model call may take, written before it is made; only where a limit is set. */
  'ask.reserved': Reservation;
  /** What a model call took. */
  'ask.settled': SettledCall;
  /** What a call came to, stored before hooks see it; the receipt that follows says what they made of it. */
  'call.answered': { readonly toolCallId: string; readonly result: ToolResult };
  /** What hooks want the model to read after the results of a message; the same source's newest words count. */
  'call.context': { readonly toolCallId: string; readonly source: string; readonly texts: readonly string[] };
  'call.intended': {
    readonly toolCallId: string;
    readonly attempt: number;
    /** The user approved it while the session's hooks were away: its result does not wait for them. */
    readonly isUnguarded?: boolean;
  };
  'call.interrupted': { readonly toolCallId: string };
  /** Hooks gave a call other arguments; the events keep what the model wrote. */
  'call.modified': { readonly toolCallId: string; readonly arguments: unknown };
  /** The model's arguments could not be read, and why; the events have empty ones. */
  'call.unreadable': { readonly toolCallId: string; readonly problem: string };
  /** A queued command is handed to the client that runs it; one that is found so after a crash is not run again. */
  'command.begun': { readonly messageId: string };
  /** Something for the model to read before a message that is there already. */
  'context.inserted': { readonly beforeEventId: string; readonly text: string };
  /** A tool is about to write a tracked file; keeps what the file held before. */
  'file.changing': FileChange;
  /** A tool has written a file. */
  'file.written': Pick<FileChange, 'path' | 'linesAdded' | 'linesRemoved'>;
  /** A text stands in the place of everything up to an entry; what of that must not be lost goes into the next one. */
  'history.compacted': { readonly lastEventId: string; readonly text: string; readonly pinned: Pinned };
  /** The event and all that followed are cut off: the state is what the session goes on with. */
  'history.truncated': {
    readonly upToEventId: string;
    readonly eventsRemoved: number;
    readonly state: SessionState;
  };
  'history.cut': { readonly fromEventId: string };
  /** These have no room in any view: the model does not see them again. */
  'history.dropped': { readonly eventIds: readonly string[] };
  /** Users are asked what to do about a limit that is spent; emitted as an event that is not stored. */
  'limits.asked': EventData<'session_limits_exhausted.requested'>;
  /** A model was chosen while a turn ran: it is announced, and counts, when the turn is over. */
  'model.chosen': ModelChange;
  /** What clients fixed for the session's permissions. */
  'permissions.changed': PermissionChange;
  'prompt.admitted': Prompt;
  /** A waiting prompt was changed; the fields given replace its own. */
  'prompt.extended': Pick<Prompt, 'messageId'> &
    Partial<Pick<Prompt, 'text' | 'displayText' | 'attachments' | 'mode'>>;
  /** A prompt wants an answer of this form. */
  'output.wanted': AnswerFormat & { readonly interactionId: string };
  /** It is there, or cannot be had. */
  'output.settled': Readonly<Record<string, never>>;
  /** A prompt that came under an id of its sender's; sent again, it is not a new one. */
  'prompt.received': { readonly messageId: string; readonly digest: string };
  /** A turn begins that answers no new message. */
  'prompt.taken': { readonly messageId: string; readonly interactionId: string };
  'prompt.withdrawn': { readonly messageId: string };
  /** A question of the agent, which is emitted as an event that is not stored; its call's result closes it. */
  'question.asked': EventData<'user_input.requested'>;
  /** A question whose event is not stored was answered, or is not asked any more. */
  'question.closed': { readonly requestId: string };
  /** A question whose event is not stored. */
  'question.opened': KeptQuestion;
  /** The order of the prompts that wait; those that are not named are being taken up, and stand before them. */
  'queue.ordered': { readonly messageIds: readonly string[] };
  /** Whether prompts that wait get turns. */
  'queue.paused': { readonly isPaused: boolean };
  /** How a model was asked: with the log, all it takes to write the request again. */
  'request.sent': SentRequest;
  /** When a scheduled prompt comes next. */
  'schedule.armed': { readonly id: number; readonly nextRunAt: number };
  'settings.fixed': Partial<FixedSettings>;
  /** The agent has answered, and whether it may stop is not decided: hooks or autopilot may have it go on. */
  'stop.asked': StopRequest;
  /** It has stopped. */
  'stop.decided': Readonly<Record<string, never>>;
  snapshot: { readonly state: SessionState | EarlierSnapshot };
  /** A client's task as it is now. */
  'task.kept': ClientTask;
  /** It is removed. */
  'task.removed': Pick<ClientTask, 'id'>;
  /** Tools that a request named for the first time. */
  'tools.offered': ToolOffer;
  verbatim: Verbatim;
  /** The model no longer sees what lies before. */
  'view.cut': ViewCut;
}

export type NoteType = keyof Notes;

/** One private record to be written; without an agent it is the root's, or the session's own. */
export type NoteDraft = {
  [K in NoteType]: { readonly note: K; readonly data: Notes[K]; readonly agentId?: string };
}[NoteType];
