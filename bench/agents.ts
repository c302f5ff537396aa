import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { AnyEvent } from '@groundcrew/protocol';
import { type CompletionMessage, RuleModel, type WireSession } from '@groundcrew/testkit';
import { type Figure, reportOf } from './budgets/report.js';
import { timed, typical } from './statistics.js';
import { openRuntime, watchedSeconds } from './watched-runtime.js';

const usage = `Measures what many sub-agents at once, and many skills, cost; fails when a bound is missed.

  npm run bench:agents                 20 agents in the background, and 500 skills
  npm run bench:agents -- --agents N   other numbers
  npm run bench:agents -- --skills N
`;

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '20' },
    skills: { type: 'string', default: '500' },
    help: { type: 'boolean', default: false },
  },
});

const root = mkdtempSync(join(tmpdir(), 'groundcrew-agents-'));

/** Agents stream, call tools and go on until they are released; the root has begun them all in one message. */
class Crew {
  isReleased = false;

  constructor(private readonly count: number) {}

  readonly rule = async (messages: readonly CompletionMessage[]) => {
    const users = messages.flatMap(({ role, content }) => (role === 'user' ? [JSON.stringify(content)] : []));
    const results = messages.filter(({ role }) => role === 'tool').length;
    if (users[0]?.includes('WORK')) {
      if (this.isReleased) return { chunks: ['Done'] };
      await pause(20);
      return {
        chunks: Array.from({ length: 20 }, (_, index) => `piece ${index} of an answer, `),
        calls: [{ id: `list-${results}`, name: 'list_agents', arguments: { include_completed: false } }],
      };
    }
    if (!users.at(-1)?.includes('BEGIN')) return { chunks: ['I see'] };
    if (results > 0) return { chunks: ['Waiting'] };
    return {
      calls: Array.from({ length: this.count }, (_, index) => ({
        id: `task-${index}`,
        name: 'task',
        arguments: {
          ...{ name: `a${index}`, prompt: 'WORK', description: 'works', mode: 'background' },
          agent_type: 'general-purpose',
        },
      })),
    };
  };
}

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;
rmSync(root, { recursive: true, force: true, maxRetries: 5 });
process.exit();

async function main(): Promise<boolean> {
  const figures = [
    ...(await manyAgents(Number(values.agents))),
    ...(await manySkills(Number(values.skills))),
  ];
  console.log(reportOf(figures));
  return figures.every(({ isKept }) => isKept !== false);
}

async function manyAgents(count: number): Promise<readonly Figure[]> {
  const crew = new Crew(count);
  const model = await RuleModel.open(crew.rule, { chunkPause: 5 });
  const runtime = await openRuntime(root);
  const settings = { ...model.settings, streaming: true, subagents: { maxConcurrency: count } };
  const session = await runtime.client.create(settings);
  for (let turn = 0; turn < 20; turn++) await session.turn('Warm up');
  const before = (await runtime.watch()).live;
  await session.send('BEGIN');
  await runtime.client.until(() => (started(session).size === count ? true : undefined), 'all agents');
  const { p99, live, machine } = await runtime.watch();
  crew.isReleased = true;
  await session.next('session.idle', () => started(session).size === count);
  const strays = strayEvents(session);
  await runtime.close();
  await model.close();
  const each = (live - before) / count;
  const events = session.events.filter(({ agentId }) => agentId !== undefined).length;
  return [
    {
      what: `${count} agents at once: memory in use for each, over the parent's ${before.toFixed(1)} MB`,
      figure: `${each.toFixed(2)} MB`,
      isKept: each <= 1,
    },
    {
      what: `p99 of the event loop's delay over ${watchedSeconds} s, less the machine's own of ${machine.toFixed(1)} ms`,
      figure: `${Math.max(0, p99 - machine).toFixed(1)} ms`,
      isKept: p99 - machine <= 20,
    },
    {
      what: `events without their agent or their call, of ${events}`,
      figure: String(strays),
      isKept: strays === 0,
    },
    {
      what: 'histories that the model refused',
      figure: String(model.refusals.length),
      isKept: model.refusals.length === 0,
    },
  ];
}

/** By agent, the call that began it. */
function started({ events }: WireSession): ReadonlyMap<string, string> {
  return new Map(
    events.flatMap(({ type, agentId, data }) =>
      type === 'subagent.started' && agentId !== undefined
        ? [[agentId, (data as { toolCallId: string }).toolCallId] as const]
        : [],
    ),
  );
}

/** Events of agents that do not say whose they are: by their call, their tool or their text. */
function strayEvents(session: WireSession): number {
  const calls = started(session);
  const isStray = ({ agentId, data }: AnyEvent) => {
    const text = JSON.stringify(data);
    const isOfAgent = text.includes('piece ') || text.includes('"list-');
    if (agentId === undefined) return isOfAgent;
    return (data as { parentToolCallId?: string }).parentToolCallId !== calls.get(agentId);
  };
  return session.events.filter(isStray).length;
}

async function manySkills(count: number): Promise<readonly Figure[]> {
  const skills = join(root, 'skills');
  for (let index = 0; index < count; index++) {
    mkdirSync(join(skills, `skill-${index}`), { recursive: true });
    writeFileSync(
      join(skills, `skill-${index}`, 'SKILL.md'),
      `---\nname: skill-${index}\ndescription: ${'Does what it says. '.repeat(5)}\n---\nDo it.\n`,
    );
  }
  const sizes: number[] = [];
  const model = await RuleModel.open((messages) => {
    sizes.push(JSON.stringify(messages[0]).length);
    return { chunks: ['ok'] };
  });
  const runtime = await openRuntime(root);
  const bare = await runtime.client.create({ ...model.settings });
  const skilled = await runtime.client.create({ ...model.settings, skillDirectories: [skills] });
  const times = { bare: [] as number[], skilled: [] as number[] };
  for (let turn = 0; turn < 220; turn++) {
    const took = { bare: await timed(() => bare.turn('Go')), skilled: await timed(() => skilled.turn('Go')) };
    if (turn < 20) continue;
    times.bare.push(took.bare);
    times.skilled.push(took.skilled);
  }
  await runtime.close();
  await model.close();
  const over = typical(times.skilled) - typical(times.bare);
  const more = (sizes[1] ?? 0) - (sizes[0] ?? 0);
  return [
    {
      what: `${count} skills: a turn over one without (${typical(times.bare).toFixed(2)} ms), typical of 200`,
      figure: `${over.toFixed(2)} ms`,
      isKept: over <= 1,
    },
    { what: 'what they add to the prompt', figure: `${more} characters`, isKept: more <= 12_000 },
  ];
}
