import type { Methods } from '@groundcrew/protocol';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names = 'session.plan.delete' | 'session.plan.read' | 'session.plan.update';

export const sessionPlanHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.plan.read'({ sessionId }, context) {
    const { workspace } = findSession('session.plan.read', sessionId, context);
    const content = await workspace.readPlan();
    return { exists: content !== undefined, content: content ?? null, path: workspace.planPath };
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
