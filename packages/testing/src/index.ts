export type { Ignorable } from './comparison.js';
export type { Call, Message } from './conversation.js';
export { TestingError, type TestingErrorKind } from './errors.js';
export {
  type Check,
  type CheckContext,
  contains,
  didNotUse,
  exactly,
  matchesSchema,
  type StandardResult,
  type StandardSchema,
  usedTool,
} from './evaluation/checks.js';
export type { DatasetCase, EvaluateOptions } from './evaluation/dataset.js';
export { evaluate } from './evaluation/evaluate.js';
export type { Evaluation } from './evaluation/evaluation.js';
export { type JudgeOptions, judgedBy } from './evaluation/judge.js';
export type {
  CheckedTurn,
  EvaluatedCall,
  EvaluatedCase,
  EvaluatedTurn,
  Verdict,
} from './evaluation/outcome.js';
/** @internal */
export { LocalServer, sendJson } from './local-server.js';
export type { MaskingOptions } from './masking.js';
export { type Recording, type RecordOptions, record } from './recorder.js';
export { type Replay, type ReplayOptions, replay } from './replayer.js';
/** @internal */
export { Script } from './script.js';
export { type ModelSettings, type ScriptedModel, scriptedModel } from './scripted-model.js';
export {
  type AskedModel,
  after,
  answer,
  callTools,
  hangUp,
  refuse,
  type ScriptedAnswer,
  type ScriptedCall,
  type ScriptedReply,
  say,
} from './scripted-reply.js';
export { getFinalAssistantMessage, getNextEventOfType, type WaitOptions } from './session-waits.js';
export {
  type TemporaryDirectory,
  temporaryDirectory,
  temporaryWorkplace,
  type Workplace,
} from './temporary.js';
export { type Participant, type TwoClients, type TwoClientsOptions, twoClients } from './two-clients.js';
export { type CassetteOptions, type UsedCassette, useCassette } from './use-cassette.js';
export type { WireName } from './wires/wire.js';
/** @internal */
export { type WrittenFor, writeEvents, writeWhole } from './write-answer.js';
