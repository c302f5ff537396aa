import type { Methods } from '@groundcrew/protocol';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.plan.${string}`>;

export const sessionPlanHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.plan.read'({ sessionId }, context) {
    const session = findSession('session.plan.read', sessionId, context);
    const content = await session.workspace.readPlan();
    const hasPlace = content !== undefined || session.hasWorkspaceIn(await session.state());
    return {
      exists: content !== undefined,
      content: content ?? null,
      path: hasPlace ? session.workspace.planPath : null,
    };
  },
  async 'session.plan.readSqlTodos'({ sessionId }, context) {
    const { workspace } = findSession('session.plan.readSqlTodos', sessionId, context);
    const { rows } = await workspace.readTodos();
    return { rows: [...rows] };
  },
  async 'session.plan.readSqlTodosWithDependencies'({ sessionId }, context) {
    const { workspace } = findSession('session.plan.readSqlTodosWithDependencies', sessionId, context);
    const { rows, dependencies } = await workspace.readTodos();
    return { rows: [...rows], dependencies: [...dependencies] };
  },
  async 'session.plan.update'({ sessionId, content }, context) {
    const session = findSession('session.plan.update', sessionId, context);
    const operation = await session.workspace.writePlan(content);
    await session.record({ type: 'session.plan_changed', data: { operation } });
    return null;
  },
  async 'session.plan.delete'({ sessionId }, context) {
    const session = findSession('session.plan.delete', sessionId, context);
    if (await session.workspace.removePlan())
      await session.record({ type: 'session.plan_changed', data: { operation: 'delete' } });
    return null;
  },
};
