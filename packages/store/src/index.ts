export type {
  ClusterOverview,
  ClusterStore,
  NodeAnnouncement,
  NodeEntry,
  NodeFigures,
  NodeOverview,
  OrphanedSession,
  SessionPlace,
  SharedBook,
  SharedPlace,
  SharedQuotas,
  SharedUse,
} from './cluster-store.js';
export { allSessions, type CopyProgress, type CopyResult, copySessions } from './copy-sessions.js';
export type { CutSession, RepairedSession } from './cut-session.js';
export type { Database, OpenDatabase, Statement } from './database.js';
export { diskFault, diskKinds } from './disk-fault.js';
export { firstEpoch } from './epoch.js';
export type { WithFileLock } from './file-lock.js';
export { makeDirectory } from './make-directory.js';
export { memoryStore } from './memory.js';
export type { DueMessage, FollowedSession, NoticeOutbox, OutboxMessage } from './notice-outbox.js';
export { parseHead } from './parse-head.js';
export { openPlainFile, readPlainFile } from './plain-file.js';
export { cutPage, readCursor, wantedContext } from './query.js';
export { asRanges } from './ranges.js';
export { checksumOf, fromColumn, hashOf, toColumn } from './record-text.js';
export {
  inUse,
  isInUse,
  isOutdated,
  isStale,
  requireConsecutive,
  seqConflict,
  staleOwner,
  unknownSession,
} from './refusals.js';
export { RepeatedWork } from './repeated-work.js';
export { isSafeId } from './safe-id.js';
export type { RunSearchStep, SearchStep, SearchStepRequest } from './search-step.js';
export { hasUnspaced, indexTerms, searchTerms } from './search-terms.js';
export {
  type AppendRequest,
  type Claim,
  type ClaimRequest,
  type Lack,
  type LogRecord,
  type NewRecord,
  type NodeWait,
  type Owner,
  type OwnerSince,
  type Page,
  type SearchHit,
  type SearchRequest,
  type SessionContext,
  type SessionFiles,
  type SessionHead,
  type SessionNeeds,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
  StoreError,
  type StoreErrorKind,
} from './session-store.js';
export { syncPath } from './sync-path.js';
export { writeWholeFile } from './whole-file.js';
