import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** The plan of a session: one text that outlives the conversation's window. */
export const sessionPlanMethods = {
  'session.plan.delete': method('Removes the plan.', sessionRef, nothing),
  'session.plan.read': method('The plan, if there is one.', sessionRef, () =>
    openObject({ exists: z.boolean(), content: z.nullable(z.string()), path: z.nullable(z.string()) }),
  ),
  'session.plan.readSqlTodos': method("The agent's todo list.", sessionRef, () =>
    openObject({ rows: z.array(todo()) }),
  ),
  'session.plan.readSqlTodosWithDependencies': method(
    "The agent's todo list, and what waits for what.",
    sessionRef,
    () =>
      openObject({
        rows: z.array(todo()),
        dependencies: z.array(openObject({ todoId: z.string(), dependsOn: z.string() })),
      }),
  ),
  'session.plan.update': method('Writes the plan.', () => inSession({ content: z.string() }), nothing),
};

function todo() {
  return openObject({
    id: z.optional(z.string()),
    title: z.optional(z.string()),
    description: z.optional(z.string()),
    status: z.optional(z.string()),
    createdAt: z.optional(z.string()),
  });
}
