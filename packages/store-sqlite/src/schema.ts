/** Marks a file as a Groundcrew store ("gcrw"), for `file(1)` and against opening another program's database. */
export const applicationId = 0x67637277;

/**
 * Step n brings a store from version n to n + 1; a released step is never changed. Records are a rowid table with an
 * index rather than clustered by session: the records of all sessions of a flush then share the last page, which
 * measured a third of the log volume.
 */
export const migrationSteps: readonly string[] = [
  `
  CREATE TABLE session (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    has_work INTEGER NOT NULL,
    user_turns INTEGER NOT NULL,
    modified_at TEXT NOT NULL,
    cwd TEXT NOT NULL,
    git_root TEXT,
    repository TEXT,
    branch TEXT,
    owner_runtime_id TEXT,
    owner_pid INTEGER,
    owner_host TEXT,
    owner_since TEXT,
    head TEXT NOT NULL
  ) STRICT;

  CREATE TABLE record (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    is_public INTEGER NOT NULL,
    type TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    json ANY,
    blob_hash BLOB,
    UNIQUE (session, seq)
  ) STRICT;

  CREATE TABLE blob (
    session INTEGER NOT NULL,
    hash BLOB NOT NULL,
    json ANY NOT NULL,
    UNIQUE (session, hash)
  ) STRICT;

  CREATE TABLE removed_session (number INTEGER PRIMARY KEY) STRICT;
  `,
  // What is still to be erased of a removed session: its files while `id` is there, and unused bytes unless `scrubs` is null.
  `
  ALTER TABLE removed_session ADD COLUMN id TEXT;
  ALTER TABLE removed_session ADD COLUMN scrubs INTEGER;
  `,
  // How far each session has been read for searches. Their index is made by the first one: see search.ts.
  `
  CREATE TABLE searched (session INTEGER PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
  `,
  // A record may share the body of one of another session, which has it itself: see shared-bodies.ts.
  `
  ALTER TABLE record ADD COLUMN body_session INTEGER;
  ALTER TABLE record ADD COLUMN body_seq INTEGER;
  CREATE INDEX record_body ON record (body_session, body_seq) WHERE body_session IS NOT NULL;
  `,
  // Bodies may be folded: see stored-text.ts. Programs that do not know it have to refuse the store.
  '-- no table changes',
  // The index knows parts of texts without spaces. The next search makes it anew; programs with the older words have to refuse it.
  `
  DROP TABLE IF EXISTS passage_text;
  DROP TABLE IF EXISTS passage;
  DELETE FROM searched;
  `,
];
