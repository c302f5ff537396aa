/** Every JSON-RPC error code that goes over the wire. */
export const errorCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  /** Whatever failed inside a handler; `data.code` may give the reason. */
  requestFailed: -32603,
  serverShuttingDown: -32000,
  authenticationRequired: -32001,
  authenticationFailed: -32002,
  authenticationNotConfigured: -32003,
} as const;

/** One of the codes. */
export type WireErrorCode = (typeof errorCodes)[keyof typeof errorCodes];

/** The messages clients compare literally. */
export const errorMessages = {
  serverShuttingDown: 'SERVER_SHUTTING_DOWN',
  authenticationRequired: 'AUTHENTICATION_REQUIRED',
  authenticationFailed: 'AUTHENTICATION_FAILED',
  authenticationNotConfigured: 'AUTHENTICATION_NOT_CONFIGURED',
} as const;

/** Why a request failed, as `error.data.code`; a retryable one may succeed unchanged a little later. */
export const failureCodes = {
  answer_unfit: {
    retryable: false,
    summary: 'The answer does not fit what was asked, or a form cannot be shown; a question stays open.',
  },
  credentials_missing: {
    retryable: false,
    summary: 'Secrets are not stored: bring the key again on resume.',
  },
  forbidden: { retryable: false, summary: 'The role of the client does not permit this.' },
  message_id_reused: {
    retryable: false,
    summary: 'A prompt with this messageId was sent before, with other content.',
  },
  node_unreachable: {
    retryable: true,
    summary: 'The node that has the session, or one that could have it, cannot be reached now.',
  },
  outcome_unknown: {
    retryable: false,
    summary: 'The node that worked on the request was lost before it answered; it may have been done.',
  },
  overloaded: { retryable: true, summary: 'Too much waits already.' },
  quota_exceeded: {
    retryable: true,
    summary: 'The tenant has used up what it may: sessions, turns at once, or tokens and money of the day.',
  },
  session_in_use: { retryable: true, summary: 'Another live process works in this session.' },
  session_not_found: { retryable: false, summary: 'There is no session of this id.' },
  session_taken_over: {
    retryable: true,
    summary: 'Another process has the session now; the next send takes it back.',
  },
  store_busy: { retryable: true, summary: 'The store is locked by others.' },
  store_damaged: { retryable: false, summary: 'A record cannot be read; what can be is kept.' },
  store_failed: { retryable: false, summary: 'The store cannot be used; the message says why.' },
  store_full: { retryable: true, summary: 'No space is left for the store.' },
  store_newer: { retryable: false, summary: 'The store was written by a newer version.' },
  store_read_only: { retryable: true, summary: 'The store cannot be written.' },
  tool_name_taken: {
    retryable: true,
    summary:
      'Another client of the session serves a tool of this name, or has just left and is not yet known to be gone.',
  },
  unknown_decision: {
    retryable: false,
    summary: 'The answer to a question for permission is of no known kind.',
  },
} as const;

/** One of the reasons. */
export type FailureCode = keyof typeof failureCodes;
