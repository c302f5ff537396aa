import type { Channel } from '@groundcrew/rpc';
import { openWebSocket } from './browser/web-socket.js';
import type { ChannelRuntimeConnection } from './connection-options.js';

export type {
  EventData,
  EventOf,
  EventType,
  MethodName,
  Methods,
  ModelInfo,
  Params,
  PermissionDecision,
  PermissionRequest,
  Result,
  SessionEvent,
} from '@groundcrew/protocol';
export { type Channel, RpcError } from '@groundcrew/rpc';
export { Client } from './client.js';
export type { ClientOptions, ConnectionLost, Reconnected } from './client-options.js';
export { defineTool, type Tool, type ToolInvocation } from './define-tool.js';
export { GroundcrewError, type GroundcrewErrorKind, OutputError } from './errors.js';
export { type FormChoice, type FormField, formChoices } from './form-field.js';
export type { SessionMetadata, WaitingOn } from './metadata.js';
export type { PendingQuestion } from './pending-questions.js';
export { approveAll, type PermissionRequestResult } from './permission.js';
export { type PermissionChoice, permissionChoices } from './permission-choices.js';
export type { Session } from './session.js';
export type { MessageOptions, ResumeSessionOptions, SessionOptions } from './session-options.js';
export { toolSubject } from './tool-subject.js';
export {
  emptyTranscript,
  foldTranscript,
  type Transcript,
  type TranscriptUsage,
  type TranscriptWait,
  transcriptOf,
  waitsOf,
} from './transcript.js';
export type {
  TranscriptAgent,
  TranscriptItem,
  TranscriptMessage,
  TranscriptNotice,
  TranscriptPrompt,
  TranscriptTool,
} from './transcript-item.js';
export type { TranscriptQuestion } from './transcript-questions.js';
export { type UIMessageChunk, uiMessageResponse, uiMessageStream } from './ui-message-stream.js';

/** Makes the connections that a browser can. */
export const RuntimeConnection = {
  /** Connects to the door that `groundcrew serve --http-port` opens: `wss://host/rpc`. */
  forWebSocket(
    url: string,
    { connectionToken }: Pick<ChannelRuntimeConnection, 'connectionToken'> = {},
  ): ChannelRuntimeConnection {
    return { kind: 'channel', open: () => openWebSocket(url, connectionToken) };
  },
  /** Uses a channel that the page opens itself. */
  forChannel(
    open: () => Channel | Promise<Channel>,
    options: Omit<ChannelRuntimeConnection, 'kind' | 'open'> = {},
  ): ChannelRuntimeConnection {
    return { kind: 'channel', open, ...options };
  },
} as const;
