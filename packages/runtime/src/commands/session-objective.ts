import type { Objective } from '../log/autopilot-state.js';
import type { Draft } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import type { ObjectiveFile } from '../workspace/objective.js';

/** The session whose objective it is. */
interface ObjectiveSession {
  readonly workspace: { readonly objective: ObjectiveFile };
  hasWorkspaceIn(state: SessionState): boolean;
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
}

/** An objective that cannot be taken. */
class ObjectiveRefused extends Error {
  override readonly name = 'ObjectiveRefused';
}

/** The model reads it with every continuation. */
const longest = 32 * 1024;

/** What autopilot works towards: a text of the app's, which every continuation names until the task is done. */
export class SessionObjective {
  constructor(private readonly session: ObjectiveSession) {}

  read(): Promise<string | undefined> {
    return this.session.workspace.objective.read();
  }

  /** Sets it; one that is there is replaced, and is worked towards again. Throws ObjectiveRefused. */
  async write(content: string): Promise<'create' | 'update'> {
    const { session } = this;
    const state = await session.state();
    if (!session.hasWorkspaceIn(state))
      throw new ObjectiveRefused('This session keeps no directory of its own');
    if (content.trim() === '') throw new ObjectiveRefused('content: an objective has a text');
    if (content.length > longest)
      throw new ObjectiveRefused(`content: an objective has at most ${longest} characters`);
    const operation = await session.workspace.objective.write(content);
    const id = operation === 'create' ? (state.objective?.id ?? 0) + 1 : (state.objective?.id ?? 1);
    await session.record(changed({ id, status: 'active' }, operation));
    return operation;
  }

  /** False when there was none. */
  async remove(): Promise<boolean> {
    const { session } = this;
    const { objective } = await session.state();
    if (!(await session.workspace.objective.remove())) return false;
    await session.record({
      type: 'session.autopilot_objective_changed',
      data: { operation: 'delete', ...(objective && { id: objective.id }) },
    });
    return true;
  }
}

function changed(objective: Objective, operation: 'create' | 'update'): Draft {
  return { type: 'session.autopilot_objective_changed', data: { operation, ...objective } };
}
