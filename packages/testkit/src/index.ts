export { examineEvents } from './examine.js';
export { byExtent } from './extent.js';
export { freePort } from './free-port.js';
export { type InProcessRuntime, inProcessRuntime } from './in-process.js';
export {
  LiveRuntime,
  type LiveRuntimeOptions,
  type LiveSession,
  liveRuntime,
  providerOf,
} from './live-runtime.js';
export { findNats, type NatsServer, openNats } from './nats-server.js';
export { type OptionField, optionFields } from './option-fields.js';
export { findPostgres, openPostgres, type PostgresServer, type PostgresSource } from './postgres-server.js';
export { PostgresStandby } from './postgres-standby.js';
export { type Rule, RuleModel, type RuleWire } from './rule-model.js';
export {
  RuntimeProcess,
  type RuntimeProcessOptions,
  temporaryDirectory,
  workerEntry,
} from './runtime-process.js';
export {
  type AskedModel,
  answer,
  type CompletionMessage,
  callTools,
  type Held,
  hangUp,
  hold,
  refuse,
  ScriptedApi,
  type ScriptedCall,
  type ScriptedModel,
  type ScriptedReply,
  say,
  streamChunks,
} from './scripted-api.js';
export { type ScriptedWire, type SpokenParts, scriptedWireFor } from './scripted-wires.js';
export { type StoreWorld, storeContract } from './store-contract.js';
export { story } from './story.js';
export { type Frame, WireClient } from './wire-client.js';
export { type WireExam, wireContract } from './wire-contract.js';
export { WireSession } from './wire-session.js';
