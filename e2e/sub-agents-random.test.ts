import type { AnyEvent } from '@groundcrew/protocol';
import {
  byExtent,
  type CompletionMessage,
  liveRuntime,
  RuleModel,
  type RuleWire,
  type SpokenParts,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

/** An agent of a random tree: what it does before its last word. */
interface Node {
  readonly mode: 'sync' | 'background';
  readonly deed: 'says' | 'looks' | 'pays' | 'fails';
  readonly children: readonly Node[];
}

/** What is done to the session when it waits, or after some events. */
interface Deed {
  readonly type: 'answer' | 'deny' | 'abort' | 'kill and continue' | 'kill and close';
  /** How many events are waited for first, where so many come. */
  readonly after: number;
}

const nodeOf = (children: fc.Arbitrary<readonly Node[]>) =>
  fc.record({
    mode: fc.constantFrom('sync' as const, 'background' as const),
    deed: fc.constantFrom('says' as const, 'looks' as const, 'pays' as const, 'fails' as const),
    children,
  });
const leaf = nodeOf(fc.constant([]));
const twig = nodeOf(fc.array(leaf, { maxLength: 2 }));
const node: fc.Arbitrary<Node> = nodeOf(fc.array(twig, { maxLength: 2 }));

const scenario = fc.record({
  children: fc.array(node, { minLength: 1, maxLength: 3 }),
  deeds: fc.array(
    fc.record({
      type: fc.constantFrom<Deed['type']>('answer', 'deny', 'abort', 'kill and continue', 'kill and close'),
      after: fc.integer({ min: 0, max: 25 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
});

/** Every agent of a tree under a name of its own. */
function named(children: readonly Node[], path = 'R'): ReadonlyMap<string, Node> {
  const all = new Map<string, Node>();
  for (const [index, child] of children.entries()) {
    const name = `${path}${index}`;
    all.set(name, child);
    for (const [below, each] of named(child.children, name)) all.set(below, each);
  }
  return all;
}

const prompt = (name: string) => `<${name}> do it`;
const begin = (name: string, { mode }: Node) => ({
  id: `task-${name}`,
  name: 'task',
  arguments: { name, prompt: prompt(name), description: name, agent_type: 'general-purpose', mode },
});

/** Speaks for every agent of a tree, and notes where one reads what another said to itself. */
class TreeModel {
  readonly leaks: string[] = [];
  private readonly nodes: ReadonlyMap<string, Node>;

  constructor(private readonly children: readonly Node[]) {
    this.nodes = named(children);
  }

  readonly rule = (messages: readonly CompletionMessage[]): SpokenParts => {
    const users = messages
      .filter(({ role }) => role === 'user')
      .map(({ content }) => JSON.stringify(content));
    const name = /<(R\d*)>/.exec(users[0] ?? '')?.[1] ?? 'R';
    this.watch(name, messages);
    if (users.at(-1)?.includes('FINISH')) return { chunks: ['DONE'] };
    const hasResults = messages.some(({ role }) => role === 'tool');
    if (name === 'R') return hasResults ? { chunks: ['root'] } : this.calls('R', this.children);
    const own = this.nodes.get(name);
    if (!own) throw new Error(`No agent is called ${name}`);
    if (own.deed === 'fails' && (hasResults || own.children.length === 0)) throw new Error(`${name} fails`);
    if (hasResults || (own.deed === 'says' && own.children.length === 0))
      return { chunks: [`said by ${name}`] };
    const { deed } = own;
    const tool = deed === 'looks' ? 'look' : 'pay';
    const calls =
      deed === 'says' || deed === 'fails' ? [] : [{ id: `${tool}-${name}`, name: tool, arguments: {} }];
    const spoken = this.calls(name, own.children);
    return { ...spoken, calls: [...calls, ...(spoken.calls ?? [])] };
  };

  private calls(name: string, children: readonly Node[]): SpokenParts {
    return {
      chunks: [`to myself ${name};`],
      calls: children.map((child, index) => begin(`${name}${index}`, child)),
    };
  }

  private watch(name: string, messages: readonly CompletionMessage[]): void {
    // Of an agent that failed, the last it said is a part of the result.
    const said = messages.filter(({ role }) => role !== 'tool');
    const heard = JSON.stringify(said).matchAll(/to myself (R\d*);/g);
    for (const [, other] of heard) if (other !== name) this.leaks.push(`${name} reads ${other}`);
  }
}

const tools = [{ name: 'look', skipPermission: true }, { name: 'pay' }];

/** Questions that no answer was sent to. */
class Questions {
  private readonly answered = new Set<string>();

  open(events: readonly AnyEvent[]): readonly AnyEvent[] {
    const closed = new Set(
      events.flatMap(({ type, data }) =>
        type.endsWith('.completed') ? [(data as { requestId?: string }).requestId] : [],
      ),
    );
    return events.filter(({ type, data }) => {
      const { requestId } = data as { requestId?: string };
      const isQuestion = type === 'permission.requested' || type === 'external_tool.requested';
      return isQuestion && requestId !== undefined && !closed.has(requestId) && !this.answered.has(requestId);
    });
  }

  async answerAll(session: WireSession, events: readonly AnyEvent[], isDenied: boolean): Promise<void> {
    for (const { type, data } of this.open(events)) {
      const { requestId } = data as { requestId: string };
      this.answered.add(requestId);
      if (type === 'external_tool.requested') await session.answerTool(requestId, { result: 'ok' });
      else await session.decide(requestId, { kind: isDenied ? 'reject' : 'approve-once' });
    }
  }
}

async function play(
  { children, deeds }: { children: readonly Node[]; deeds: readonly Deed[] },
  wire: RuleWire,
) {
  const tree = new TreeModel(children);
  const model = await RuleModel.open(tree.rule);
  const settings = { ...model.settingsFor(wire), tools };
  let process = runtime.spawn({ flags: ['--stdio'] });
  let client: WireClient = await runtime.connect(process, { hasGaps: true });
  let session = await client.create(settings);
  let questions = new Questions();
  try {
    await session.send('<R> go');
    for (const { type, after } of deeds) {
      await waits(client, session, questions, { after });
      if (type === 'answer' || type === 'deny')
        await questions.answerAll(session, session.events, type === 'deny');
      else if (type === 'abort') await session.call('session.abort');
      else {
        await process.signal('SIGKILL');
        process = runtime.spawn({ flags: ['--stdio'] });
        client = await runtime.connect(process, { hasGaps: true });
        const continuePendingWork = type === 'kill and continue';
        session = await client.resume(session.sessionId, { ...settings, continuePendingWork });
        questions = new Questions();
        if (continuePendingWork) await questions.answerAll(session, await session.stored(), false);
      }
    }
    await session.send('FINISH');
    for (;;) {
      await waits(client, session, questions, { after: Number.POSITIVE_INFINITY, until: 'FINISH' });
      const open = questions.open(session.events);
      if (open.length === 0) break;
      await questions.answerAll(session, session.events, false);
    }
    const stored = await session.stored();
    return { refusals: model.refusals, leaks: tree.leaks, faults: faultsIn(stored), last: lastOf(stored) };
  } finally {
    await process.signal('SIGKILL');
    await model.close();
  }
}

/** Resolves when the session waits for an answer, is idle, or so many events more have come. */
async function waits(
  client: WireClient,
  session: WireSession,
  questions: Questions,
  { after, until = '' }: { readonly after: number; readonly until?: string },
): Promise<void> {
  const { hasActiveWork } = await session.call<{ hasActiveWork: boolean }>('session.metadata.activity');
  if (!hasActiveWork && until === '') return;
  const from = session.events.length;
  await client.until(() => {
    const { events } = session;
    const idleAt = events.findLastIndex(({ type }) => type === 'session.idle');
    const isIdle = idleAt >= 0 && idleAt > lastPrompt(events, until);
    const isDone = questions.open(events).length > 0 || isIdle || events.length - from >= after;
    return isDone ? true : undefined;
  }, 'something to do');
}

/** Where the newest prompt stands; infinitely far when the one that is waited for has not come. */
function lastPrompt(events: readonly AnyEvent[], until: string): number {
  const at = events.findLastIndex(({ type, agentId }) => type === 'user.message' && agentId === undefined);
  const { content = '' } = (events[at]?.data ?? {}) as { content?: string };
  return content.includes(until) ? at : Number.POSITIVE_INFINITY;
}

/** Each agent begins once and ends once, each call has one receipt, and nothing is left at work. */
function faultsIn(events: readonly AnyEvent[]): readonly string[] {
  const count = (type: RegExp, agentId: string) =>
    events.filter((event) => event.agentId === agentId && type.test(event.type)).length;
  const begun = events.filter(({ type }) => type === 'subagent.started').map(({ agentId = '' }) => agentId);
  const receipts = events.flatMap(({ type, data }) =>
    type === 'tool.execution_complete' ? [(data as { toolCallId: string }).toolCallId] : [],
  );
  return [
    ...begun.filter((id, index) => begun.indexOf(id) !== index).map((id) => `${id} began twice`),
    ...begun
      .filter((id) => count(/^subagent\.(completed|failed)$/, id) !== 1)
      .map((id) => `${id} did not end once`),
    ...receipts.filter((id, index) => receipts.indexOf(id) !== index).map((id) => `${id} has two receipts`),
  ];
}

function lastOf(events: readonly AnyEvent[]): string {
  const said = events.findLast(({ type, agentId }) => type === 'assistant.message' && agentId === undefined);
  return (said?.data as { content: string } | undefined)?.content ?? '';
}

test.each(['chat', 'responses', 'messages'] as const)(
  'random trees of agents that are answered, aborted and killed keep histories that the %s service takes',
  { timeout: 240_000 },
  async (wire) => {
    const property = fc.asyncProperty(scenario, async (given) => {
      const { refusals, leaks, faults, last } = await play(given, wire);
      expect({ refusals, leaks, faults }).toEqual({ refusals: [], leaks: [], faults: [] });
      expect(['DONE', 'root']).toContain(last);
    });
    await fc.assert(property, {
      numRuns: Number(process.env.AGENT_RUNS ?? byExtent({ short: 2, full: 5 })),
      endOnFailure: true,
    });
  },
);
