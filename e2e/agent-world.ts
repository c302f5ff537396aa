import type { IncomingHttpHeaders } from 'node:http';
import type { AnyEvent } from '@groundcrew/protocol';
import { RuleModel, type SpokenParts, type WireSession } from '@groundcrew/testkit';

/** What an agent has had so far. */
export interface Asked {
  /** Results of its calls, in their order. */
  readonly results: readonly string[];
  /** Its first message and all later ones. */
  readonly messages: readonly string[];
  readonly headers: IncomingHttpHeaders;
  /** How often this agent asked its model, this time included. */
  readonly times: number;
}

type AgentRule = (asked: Asked) => SpokenParts | Promise<SpokenParts>;

/** A model that answers each agent by the word that its first message has in it. */
export async function agentModel(rules: Readonly<Record<string, AgentRule>>) {
  const times: Record<string, number> = {};
  const headers: Record<string, IncomingHttpHeaders[]> = {};
  const systems: Record<string, string> = {};
  const model = await RuleModel.open((messages, sent) => {
    const users = messages.flatMap(({ role, content }) => (role === 'user' ? [textOf(content)] : []));
    const results = messages.flatMap(({ role, content }) => (role === 'tool' ? [textOf(content)] : []));
    const name = Object.keys(rules).find((word) => users[0]?.includes(word)) ?? 'ROOT';
    times[name] = (times[name] ?? 0) + 1;
    headers[name] = [...(headers[name] ?? []), sent];
    systems[name] = messages
      .flatMap(({ role, content }) => (role === 'system' ? [textOf(content)] : []))
      .join('');
    const rule = rules[name];
    if (!rule) throw new Error(`No rule for ${users[0]}`);
    return rule({ results, messages: users, headers: sent, times: times[name] ?? 0 });
  });
  return { model, times, headers, systems };
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}

export const say = (text: string): SpokenParts => ({ chunks: [text] });

export const call = (name: string, args: object = {}, id = `call-${name}`): SpokenParts => ({
  calls: [{ id, name, arguments: args }],
});

/** Calls that begin agents, by the words of their rules. */
export function begin(names: readonly string[], more: Readonly<Record<string, unknown>> = {}): SpokenParts {
  return {
    calls: names.map((name) => ({
      id: `task-${name}`,
      name: 'task',
      arguments: {
        ...{ name, prompt: `${name} please`, description: `The task of ${name}` },
        ...{ agent_type: 'general-purpose', mode: 'sync', ...more },
      },
    })),
  };
}

/** Begins agents, and says what came of them. */
export function beginAndReport(
  names: readonly string[],
  more?: Readonly<Record<string, unknown>>,
): AgentRule {
  return ({ results }) => (results.length === 0 ? begin(names, more) : say(`Root: ${results.join(' | ')}`));
}

export interface Task {
  readonly id: string;
  readonly displayName: string;
  readonly status: string;
  readonly result?: string;
  readonly error?: string;
  readonly [field: string]: unknown;
}

/** The sub-agents of a session, by their names. */
export async function tasksOf(session: WireSession): Promise<Readonly<Record<string, Task>>> {
  const { tasks } = await session.call<{ tasks: readonly Task[] }>('session.tasks.list');
  return Object.fromEntries(tasks.map((task) => [task.displayName, task]));
}

/** The last thing that the root agent said. */
export function lastWord(events: readonly AnyEvent[]): string {
  const said = events.findLast((event) => event.type === 'assistant.message' && event.agentId === undefined);
  return (said?.data as { content: string } | undefined)?.content ?? '';
}

/** A promise, and what resolves it. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
