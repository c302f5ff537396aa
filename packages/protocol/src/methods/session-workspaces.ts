import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text } from '../fields.js';
import { nothing, once, openEnum, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef } from './session-ref.js';

/** The files a session keeps for itself. */
export const sessionWorkspacesMethods = {
  'session.workspaces.autopilotObjectiveExists': method(
    'Whether autopilot has an objective.',
    sessionRef,
    () => openObject({ exists: z.boolean() }),
  ),
  'session.workspaces.createDirectory': method(
    'Makes a directory of the workspace.',
    () => sparseObject({ recursive: flag }, { sessionId: text, path: text }),
    nothing,
  ),
  'session.workspaces.removePath': method(
    'Removes a file or directory of the workspace.',
    () => sparseObject({ recursive: flag, force: flag }, { sessionId: text, path: text }),
    nothing,
  ),
  'session.workspaces.renamePath': method(
    'Gives a file or directory of the workspace another name.',
    () => inSession({ source: z.string(), destination: z.string() }),
    nothing,
  ),
  'session.workspaces.statFile': method(
    'What a path of the workspace leads to.',
    () => inSession({ path: z.string() }),
    () =>
      openObject({
        isFile: z.boolean(),
        isDirectory: z.boolean(),
        size: z.number(),
        mtimeMs: z.number(),
        birthtimeMs: z.number(),
      }),
  ),
  'session.workspaces.createFile': method(
    'Writes a file of the workspace, new or not.',
    () => inSession({ path: z.string(), content: z.string() }),
    nothing,
  ),
  'session.workspaces.diff': method(
    'What differs from the last commit, from where the branch began, or from before the session wrote.',
    () => sparseObject({ ignoreWhitespace: flag }, { sessionId: text, mode: text }),
    () =>
      openObject({
        requestedMode: z.enum(['unstaged', 'branch', 'session']),
        mode: z.enum(['unstaged', 'branch', 'session']),
        changes: z.array(
          openObject({
            path: z.string(),
            diff: z.string(),
            changeType: z.enum(['added', 'modified', 'deleted', 'renamed']),
            oldPath: z.optional(z.string()),
            isTruncated: z.optional(z.boolean()),
          }),
        ),
        baseBranch: z.optional(z.string()),
        isFallback: z.boolean(),
        unavailableReason: z.optional(
          openEnum(['file-change-tracking-disabled', 'session-busy', 'unsupported-remote-session']),
        ),
      }),
  ),
  'session.workspaces.deleteAutopilotObjective': method(
    'Takes the objective of autopilot away; false when there was none.',
    sessionRef,
    () => openObject({ deleted: z.boolean() }),
  ),
  'session.workspaces.getWorkspace': method('What the workspace is, and where.', sessionRef, () =>
    openObject({ workspace: z.nullable(workspace()), path: z.optional(z.string()) }),
  ),
  'session.workspaces.ensure': method(
    'Makes the directory of the session, where it keeps one and it is gone.',
    () => inSession({ context: z.optional(z.unknown()) }),
    () => openObject({ workspace: z.nullable(workspace()), path: z.optional(z.string()) }),
  ),
  'session.workspaces.updateMetadata': method(
    'Gives the session a name, as `session.name.set` does.',
    () => inSession({ context: z.optional(z.unknown()), name: z.optional(z.string()) }),
    () => openObject({ workspace: z.nullable(workspace()), path: z.optional(z.string()) }),
  ),
  'session.workspaces.addSummary': method(
    'Keeps a summary beside those that compactions have left.',
    () => inSession({ title: z.string(), content: z.string() }),
    () =>
      openObject({
        summary: openObject({
          number: z.number(),
          title: z.string(),
          filename: z.string(),
          /** The same under the names that other runtimes use. */
          checkpointNumber: z.number(),
          checkpointTitle: z.string(),
          checkpointPath: z.string(),
        }),
        workspace: z.nullable(workspace()),
      }),
  ),
  'session.workspaces.truncateSummaries': method(
    'Keeps so many of the oldest summaries, as after a rewind; the others are removed.',
    () => inSession({ keepCount: z.int() }),
    () => openObject({ workspace: z.nullable(workspace()), path: z.optional(z.string()) }),
  ),
  'session.workspaces.listCheckpoints': method('The summaries that compactions have left.', sessionRef, () =>
    openObject({
      checkpoints: z.array(openObject({ number: z.number(), title: z.string(), filename: z.string() })),
    }),
  ),
  'session.workspaces.listFiles': method('The files of the workspace.', sessionRef, () =>
    openObject({ files: z.array(z.string()) }),
  ),
  'session.workspaces.readCheckpoint': method(
    'A summary by its number; null when there is none.',
    () => inSession({ number: z.number() }),
    () => openObject({ content: z.nullable(z.string()) }),
  ),
  'session.workspaces.readAutopilotObjective': method(
    'What autopilot works towards; null when it has no objective.',
    sessionRef,
    () => openObject({ content: z.nullable(z.string()) }),
  ),
  'session.workspaces.readFile': method(
    'A file of the workspace.',
    () => inSession({ path: z.string() }),
    () => openObject({ content: z.string() }),
  ),
  'session.workspaces.saveLargePaste': method(
    'Keeps a long text as a file of the workspace.',
    () => inSession({ content: z.string() }),
    () =>
      openObject({
        saved: z.nullable(openObject({ filePath: z.string(), filename: z.string(), sizeBytes: z.number() })),
      }),
  ),
  'session.workspaces.writeAutopilotObjective': method(
    'Sets what autopilot works towards: each of its continuations names it until the task is done.',
    () => inSession({ content: z.string() }),
    () => openObject({ operation: z.enum(['create', 'update']) }),
  ),
};

/** What is known of a workspace; names as they stand in its file. */
export const workspace = once(() =>
  openObject({
    id: z.string(),
    cwd: z.optional(z.string()),
    git_root: z.optional(z.string()),
    repository: z.optional(z.string()),
    host_type: z.optional(z.enum(['github', 'ado'])),
    branch: z.optional(z.string()),
    name: z.optional(z.string()),
    client_name: z.optional(z.string()),
    user_named: z.optional(z.boolean()),
    summary_count: z.optional(z.number()),
    created_at: z.optional(z.string()),
    updated_at: z.optional(z.string()),
    remote_steerable: z.optional(z.boolean()),
  }),
);
