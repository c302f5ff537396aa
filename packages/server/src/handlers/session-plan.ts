import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.plan.${string}`>;

export const sessionPlanHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.plan.read'(_params, { session }) {
    const content = await session.workspace.readPlanFile();
    const hasPlace = content !== undefined || session.hasWorkspaceIn(await session.state());
    return {
      // An empty file is only where a plan may be written.
      exists: content !== undefined && content !== '',
      content: content ?? null,
      path: hasPlace ? session.workspace.planPath : null,
    };
  },
  async 'session.plan.readSqlTodos'(_params, { session }) {
    const { workspace } = session;
    const { rows } = await workspace.readTodos();
    return { rows: [...rows] };
  },
  async 'session.plan.readSqlTodosWithDependencies'(_params, { session }) {
    const { workspace } = session;
    const { rows, dependencies } = await workspace.readTodos();
    return { rows: [...rows], dependencies: [...dependencies] };
  },
  async 'session.plan.update'({ content }, { session }) {
    const operation = await session.workspace.writePlan(content);
    await session.record({ type: 'session.plan_changed', data: { operation } });
    return null;
  },
  async 'session.plan.delete'(_params, { session }) {
    if (await session.workspace.removePlan())
      await session.record({ type: 'session.plan_changed', data: { operation: 'delete' } });
    return null;
  },
};
