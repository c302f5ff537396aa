import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';
import { describeWorkspace } from '../workspace.js';

type Names =
  | 'session.workspaces.autopilotObjectiveExists'
  | 'session.workspaces.deleteAutopilotObjective'
  | 'session.workspaces.readAutopilotObjective'
  | 'session.workspaces.writeAutopilotObjective'
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
  async 'session.workspaces.autopilotObjectiveExists'(_params, { session }) {
    return { exists: (await session.objective.read()) !== undefined };
  },
  async 'session.workspaces.deleteAutopilotObjective'(_params, { session }) {
    return { deleted: await session.objective.remove() };
  },
  async 'session.workspaces.readAutopilotObjective'(_params, { session }) {
    return { content: (await session.objective.read()) ?? null };
  },
  async 'session.workspaces.writeAutopilotObjective'({ content }, { session }) {
    return { operation: await session.objective.write(content) };
  },
};
