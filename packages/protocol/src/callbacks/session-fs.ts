import * as z from 'zod/mini';
import { method } from '../define.js';
import { once, openEnum, openObject } from '../schema.js';

/** The client stores what a session keeps for itself. Failures of files are part of the answer. */
export const sessionFsCallbacks = {
  'sessionFs.appendFile': method(
    'Puts text behind what a file holds, and makes the file when it is not there.',
    () => openObject({ ...path(), content: z.string(), mode: z.optional(z.number()) }),
    () => outcome(),
  ),
  'sessionFs.exists': method(
    'Whether there is a file or directory.',
    () => openObject(path()),
    () => openObject({ exists: z.boolean() }),
  ),
  'sessionFs.mkdir': method(
    'Makes a directory.',
    () => openObject({ ...path(), recursive: z.optional(z.boolean()), mode: z.optional(z.number()) }),
    () => outcome(),
  ),
  'sessionFs.readFile': method(
    'The whole text of a file.',
    () => openObject(path()),
    () => openObject({ content: z.string(), error: z.nullish(fault()) }),
  ),
  'sessionFs.readdir': method(
    'The names in a directory.',
    () => openObject(path()),
    () => openObject({ entries: z.array(z.string()), error: z.nullish(fault()) }),
  ),
  'sessionFs.readdirWithTypes': method(
    'The names in a directory, and which of them are directories.',
    () => openObject(path()),
    () =>
      openObject({
        entries: z.array(openObject({ name: z.string(), type: openEnum(['file', 'directory']) })),
        error: z.nullish(fault()),
      }),
  ),
  'sessionFs.rename': method(
    'Gives a file another name; a file of that name is replaced.',
    () => openObject({ sessionId: z.string(), src: z.string(), dest: z.string() }),
    () => outcome(),
  ),
  'sessionFs.rm': method(
    'Removes a file or directory.',
    () => openObject({ ...path(), recursive: z.optional(z.boolean()), force: z.optional(z.boolean()) }),
    () => outcome(),
  ),
  'sessionFs.sqliteExists': method(
    'Whether the session has a database already.',
    () => openObject({ sessionId: z.string() }),
    () => openObject({ exists: z.boolean() }),
  ),
  'sessionFs.sqliteQuery': method(
    'Runs one statement on the session’s database.',
    () => openObject({ sessionId: z.string(), ...statement() }),
    () => sqliteResult(),
  ),
  'sessionFs.sqliteTransaction': method(
    'Runs statements on the session’s database, all of them or none.',
    () => openObject({ sessionId: z.string(), statements: z.array(openObject(statement())) }),
    () =>
      openObject({
        results: z.array(sqliteResult()),
        error: z.nullish(openObject({ errorClass: z.string(), message: z.string() })),
      }),
  ),
  'sessionFs.stat': method(
    'What a file or directory is.',
    () => openObject(path()),
    () =>
      openObject({
        isFile: z.boolean(),
        isDirectory: z.boolean(),
        size: z.number(),
        mtime: z.string(),
        birthtime: z.string(),
        error: z.nullish(fault()),
      }),
  ),
  'sessionFs.writeFile': method(
    'Writes a whole file.',
    () => openObject({ ...path(), content: z.string(), mode: z.optional(z.number()) }),
    () => outcome(),
  ),
};

const path = () => ({ sessionId: z.string(), path: z.string() });

/** Nothing, or what failed. */
const outcome = once(() =>
  z.nullish(
    openObject({
      code: z.optional(z.string()),
      message: z.optional(z.string()),
      // Where answers of other requests have it; a provider may put it there too.
      error: z.nullish(z.union([fault(), z.string()])),
    }),
  ),
);

const fault = once(() =>
  openObject({ code: openEnum(['ENOENT', 'UNKNOWN']), message: z.optional(z.string()) }),
);

const statement = () => ({
  query: z.string(),
  queryType: openEnum(['exec', 'query', 'run']),
  params: z.optional(z.record(z.string(), z.unknown())),
});

const sqliteResult = once(() =>
  openObject({
    rows: z.array(z.record(z.string(), z.unknown())),
    columns: z.array(z.string()),
    rowsAffected: z.number(),
    lastInsertRowid: z.nullish(z.number()),
    error: z.nullish(fault()),
  }),
);
