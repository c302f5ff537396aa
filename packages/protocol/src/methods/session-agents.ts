import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, number, text, texts } from '../fields.js';
import { nothing, once, openEnum, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef } from './session-ref.js';

/** An agent that can lead a session, or work for another one. */
export const agentInfo = once(() =>
  openObject({
    id: text(),
    name: text(),
    displayName: text(),
    description: text(),
    source: z.optional(openEnum(['user', 'project', 'inherited', 'remote', 'plugin', 'builtin'])),
    path: z.optional(text()),
    userInvocable: z.optional(flag()),
    tools: z.optional(texts()),
    model: z.optional(text()),
    skills: z.optional(texts()),
    prompt: z.optional(text()),
    limits: z.optional(z.record(text(), number())),
  }),
);

const agentList = once(() => openObject({ agents: z.array(agentInfo()) }));

/** The agents of a session. */
export const sessionAgentsMethods = {
  'session.agent.list': method(
    'The agents that clients and files describe, in the order of precedence; with `includeBuiltInAgents` all.',
    () => sparseObject({ includeBuiltInAgents: flag, includePrompt: flag }, { sessionId: text }),
    agentList,
  ),
  'session.agent.getCurrent': method(
    'The agent that leads from the next prompt on; null for the default one.',
    sessionRef,
    () => openObject({ agent: z.nullable(agentInfo()) }),
  ),
  'session.agent.select': method(
    'Makes an agent lead from the next prompt on.',
    () => inSession({ name: text() }),
    () => openObject({ agent: agentInfo() }),
  ),
  'session.agent.deselect': method('Makes the default agent lead again.', sessionRef, nothing),
  'session.agent.setPrompt': method(
    'Replaces the prompt of an agent, until the process unloads the session.',
    () => inSession({ id: text(), prompt: text() }),
    () => openObject({}),
  ),
  'session.agent.reload': method('Reads the files of agents again.', sessionRef, agentList),
};
