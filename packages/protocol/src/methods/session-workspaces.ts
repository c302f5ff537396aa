import * as z from 'zod';
import { method } from '../define.js';
import { nothing, once, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** The files a session keeps for itself. */
export const sessionWorkspacesMethods = {
  'session.workspaces.createFile': method(
    'Writes a file of the workspace, new or not.',
    () => inSession({ path: z.string(), content: z.string() }),
    nothing,
  ),
  'session.workspaces.getWorkspace': method('What the workspace is, and where.', sessionRef, () =>
    openObject({ workspace: workspace().nullable(), path: z.string().optional() }),
  ),
  'session.workspaces.listFiles': method('The files of the workspace.', sessionRef, () =>
    openObject({ files: z.array(z.string()) }),
  ),
  'session.workspaces.readFile': method(
    'A file of the workspace.',
    () => inSession({ path: z.string() }),
    () => openObject({ content: z.string() }),
  ),
};

/** What is known of a workspace; names as they stand in its file. */
export const workspace = once(() =>
  openObject({
    id: z.string(),
    cwd: z.string().optional(),
    git_root: z.string().optional(),
    repository: z.string().optional(),
    host_type: z.enum(['github', 'ado']).optional(),
    branch: z.string().optional(),
    name: z.string().optional(),
    client_name: z.string().optional(),
    user_named: z.boolean().optional(),
    summary_count: z.number().optional(),
    created_at: z.string().optional(),
    updated_at: z.string().optional(),
    remote_steerable: z.boolean().optional(),
  }),
);
