/** Why a cassette or a script is of no use. */
export type TestingErrorKind =
  /** Recording was asked for where nothing may be recorded. */
  | 'recording_in_ci'
  /** The file is no cassette. */
  | 'unreadable'
  /** What happened is not what was recorded or scripted. */
  | 'not_as_expected'
  /** What was waited for did not come. */
  | 'timeout'
  /** The session failed while something else was waited for. */
  | 'session_error';

/** Every failure of this package; the message says what to do. */
export class TestingError extends Error {
  override readonly name = 'TestingError';

  constructor(
    readonly kind: TestingErrorKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
