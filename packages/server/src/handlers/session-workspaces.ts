import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';
import { describeWorkspace } from '../workspace.js';

type Names =
  | 'session.workspaces.createFile'
  | 'session.workspaces.getWorkspace'
  | 'session.workspaces.listFiles'
  | 'session.workspaces.readFile';

export const sessionWorkspacesHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.workspaces.getWorkspace'(_params, { session }) {
    if (!session.hasWorkspaceIn(await session.state())) return { workspace: null };
    return { workspace: await describeWorkspace(session), path: session.workspace.directory };
  },
  async 'session.workspaces.listFiles'(_params, { session }) {
    return {
      files: await session.workspace.listFiles(),
    };
  },
  async 'session.workspaces.readFile'({ path }, { session }) {
    return {
      content: await session.workspace.readFile(path),
    };
  },
  async 'session.workspaces.createFile'({ path, content }, { session }) {
    const operation = await session.workspace.writeFile(path, content);
    await session.record({ type: 'session.workspace_file_changed', data: { path, operation } });
    return null;
  },
};
