import type { Methods } from '@groundcrew/protocol';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';
import type { RareMethod } from '../rare-methods.js';
import { describeWorkspace } from '../workspace.js';

type Names = Exclude<Extract<keyof Methods, `session.workspaces.${string}`>, RareMethod>;

const modes = ['unstaged', 'branch', 'session'] as const;

export const sessionWorkspacesHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.workspaces.getWorkspace'(_params, { session }) {
    if (!session.hasWorkspaceIn(await session.state())) return { workspace: null };
    return { workspace: await describeWorkspace(session), path: session.workspace.shownDirectory };
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
  async 'session.workspaces.saveLargePaste'({ content }, { session }) {
    const filename = await session.workspace.savePaste(content, new Date());
    await session.record({
      type: 'session.workspace_file_changed',
      data: { path: filename, operation: 'create' },
    });
    const filePath = session.workspace.filePath(filename);
    return { saved: { filePath, filename, sizeBytes: Buffer.byteLength(content) } };
  },
  async 'session.workspaces.listCheckpoints'(_params, { session }) {
    return { checkpoints: [...(await session.workspace.checkpoints.list())] };
  },
  async 'session.workspaces.readCheckpoint'({ number }, { session }) {
    return { content: (await session.workspace.checkpoints.read(number)) ?? null };
  },
  async 'session.workspaces.diff'({ mode, ignoreWhitespace = false }, { session, signal }) {
    const known = modes.find((each) => each === mode);
    if (!known) throw new Refusal(`Invalid diff mode '${mode}'; expected ${modes.join(', ')}`);
    const found = await session.diff.read(known, { ignoresSpace: ignoreWhitespace }, signal);
    return { ...found, changes: [...found.changes] };
  },
  async 'session.workspaces.createDirectory'({ path, recursive = false }, { session }) {
    await session.workspace.makeDirectory(path, { recursive });
    return null;
  },
  async 'session.workspaces.removePath'({ path, recursive = false, force = false }, { session }) {
    await session.workspace.remove(path, { recursive, force });
    return null;
  },
  async 'session.workspaces.renamePath'({ source, destination }, { session }) {
    await session.workspace.rename(source, destination);
    // Events know of files that are made or changed only.
    await session.record({
      type: 'session.workspace_file_changed',
      data: { path: destination, operation: 'create' },
    });
    return null;
  },
  async 'session.workspaces.statFile'({ path }, { session }) {
    const stats = await session.workspace.stat(path);
    return {
      isFile: stats.isFile(),
      isDirectory: stats.isDirectory(),
      size: stats.size,
      mtimeMs: stats.mtimeMs,
      birthtimeMs: stats.birthtimeMs,
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
