import type { AgentDefinition, AgentTask } from '../log/agent-task.js';
import { defineTool } from '../tools/define-tool.js';
import { choice, flag, list, number, optional, text } from '../tools/fields.js';
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from '../tools/tool.js';
import { type NewTask, type SubAgents, TooDeep } from './sub-agents.js';
import { listOf, reportOf, startedText } from './task-texts.js';

/** What the tools for agents work with. */
export interface AgentToolParts {
  /** The agents that may be begun. */
  readonly agents: readonly AgentDefinition[];
  subAgents(): SubAgents;
  /** Why this model cannot be had; undefined when it can. */
  problemWithModel(model: string): string | undefined;
}

/** Lets the model begin agents, read and write to them, and end them. */
export function agentTools(parts: AgentToolParts): readonly Tool[] {
  if (parts.agents.length === 0) return [];
  return [
    readAgentTool(parts),
    writeAgentTool(parts),
    listAgentsTool(parts),
    stopAgentTool(parts),
    taskTool(parts),
  ];
}

function taskTool(parts: AgentToolParts): Tool {
  const names = parts.agents.map(({ name }) => name);
  const tool = defineTool({
    name: 'task',
    description:
      'Has another agent do a task. It knows nothing of this conversation: say in the prompt all that it needs, and what to report. Begin several at once where tasks do not depend on one another.',
    fields: {
      name: text('A short name.'),
      prompt: text('The whole task.'),
      agent_type: choice('Which agent does it.', names),
      description: text('What it does, in a few words.'),
      model: optional(text('Another model.')),
      reasoning_effort: optional(text('How hard it thinks, where its model supports that.')),
      mode: optional(
        choice('`sync` waits for the answer; `background`, the default, does not.', ['sync', 'background']),
      ),
    },
    // What it began is found again by the call, and not begun twice.
    isRepeatable: true,
    // What agents do passes the gate call by call: in plan mode they look, as the one that began them may.
    changesNothing: true,
    intention: ({ description }) => description,
    prepare: (input, context) => {
      const agent = parts.agents.find(({ name }) => name === input.agent_type);
      if (!agent) throw new ToolFailure(`There is no agent ${input.agent_type}.`);
      const problem = input.model === undefined ? undefined : parts.problemWithModel(input.model);
      if (problem !== undefined) throw new ToolFailure(problem);
      const { name, prompt, description, model, mode = 'background', reasoning_effort: effort } = input;
      const given = {
        ...{ agent, name, prompt, description, mode },
        ...(model !== undefined && { model }),
        ...(effort !== undefined && { reasoningEffort: effort }),
      };
      return { type: 'run', run: (signal) => runTask(given, { parts, context, signal }) };
    },
  });
  return { ...tool, notes: agentNotes(parts.agents) };
}

type GivenTask = Omit<NewTask, 'toolCallId' | 'parentAgentId'>;

async function runTask(
  given: GivenTask,
  {
    parts,
    context,
    signal,
  }: { readonly parts: AgentToolParts; readonly context: ToolContext; readonly signal: AbortSignal },
): Promise<ToolResult> {
  const { toolCallId, agentId: parentAgentId } = context;
  const subAgents = parts.subAgents();
  const parent = parentAgentId === undefined ? {} : { parentAgentId };
  const begun =
    subAgents.begunBy(toolCallId, parentAgentId) ??
    (await subAgents.start({ ...given, toolCallId, ...parent }).catch((error: unknown) => {
      throw error instanceof TooDeep ? new ToolFailure(error.message) : error;
    }));
  if (begun.mode === 'background') return success(startedText(begun));
  const ended = (await subAgents.ended(begun.agentId, signal)) ?? begun;
  subAgents.deliver(begun.agentId);
  if (ended.status === 'running') return success(startedText(ended));
  return resultOf(ended);
}

/** What the parent reads of an agent that it waited for: never an exception. */
function resultOf({ status, name, result = '', error = '' }: AgentTask): ToolResult {
  if (status === 'completed') return success(result === '' ? 'The agent ended without a word.' : result);
  const why = status === 'cancelled' ? 'was stopped' : `failed: ${error}`;
  const rest = result === '' ? '' : `\n\nThe last it said:\n${result}`;
  return { type: 'failure', text: `Agent "${name}" ${why}${rest}`, message: `Agent "${name}" ${why}` };
}

function readAgentTool(parts: AgentToolParts): Tool {
  return defineTool({
    name: 'read_agent',
    changesNothing: true,
    description: 'How an agent is doing, and what it said at its end.',
    fields: {
      agent_id: text('The id of the agent.'),
      wait: optional(flag('Wait until it has ended.')),
      timeout: optional(
        number('How many seconds to wait at most; 30 unless given.', { minimum: 0, maximum: 180 }),
      ),
      since_turn: optional(number('Only what it said from this turn on.', { minimum: 0 })),
    },
    isRepeatable: true,
    prepare: ({ agent_id: agentId, wait = false, timeout = 30, since_turn: since = 0 }, context) => ({
      type: 'run',
      run: async (signal) => {
        const subAgents = parts.subAgents();
        const task = requireTask(subAgents, agentId, context);
        if (wait && task.status === 'running') await untilEnded(subAgents, agentId, timeout * 1000, signal);
        return success(reportOf(requireTask(subAgents, agentId, context), { now: Date.now(), since }));
      },
    }),
  });
}

async function untilEnded(
  subAgents: SubAgents,
  agentId: string,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.timeout(milliseconds);
  const either = AbortSignal.any([signal, limit]);
  while (subAgents.find(agentId)?.status === 'running') {
    const isLate = await subAgents.change(either).then(
      () => false,
      () => true,
    );
    signal.throwIfAborted();
    if (isLate) return;
  }
}

function writeAgentTool(parts: AgentToolParts): Tool {
  return defineTool({
    name: 'write_agent',
    changesNothing: true,
    description: 'Sends a message to an agent, which takes it up next.',
    fields: {
      message: text('What to send it.'),
      agent_id: optional(text('The id of the agent.')),
      agent_ids: optional(list('The ids of several agents.')),
    },
    prepare: ({ message, agent_id: one, agent_ids: several = [] }, context) => ({
      type: 'run',
      run: async () => {
        const subAgents = parts.subAgents();
        const ids = one === undefined ? several : [one, ...several];
        if (ids.length === 0) throw new ToolFailure('Name an agent by agent_id.');
        const tasks = ids.map((agentId) => requireTask(subAgents, agentId, context));
        for (const { agentId, isForgotten } of tasks) {
          if (!(await subAgents.message(agentId, message)))
            throw new ToolFailure(
              `Agent ${agentId} ${isForgotten ? 'ended long ago' : 'was stopped'} and takes no messages.`,
            );
        }
        return success(`Message sent to ${ids.join(', ')}.`);
      },
    }),
  });
}

function listAgentsTool(parts: AgentToolParts): Tool {
  return defineTool({
    name: 'list_agents',
    changesNothing: true,
    description: 'Lists the agents that you began in the background, and those that they began.',
    fields: {
      include_completed: optional(flag('Also those that have ended; true unless given.')),
    },
    isRepeatable: true,
    prepare: ({ include_completed: isAll = true }, { agentId: leader }) => ({
      type: 'run',
      run: async () => {
        const subAgents = parts.subAgents();
        const tasks = subAgents.tasks.filter(
          (task) =>
            task.mode === 'background' &&
            (isAll || task.status === 'running') &&
            subAgents.isLedBy(task, leader),
        );
        return success(listOf(tasks, Date.now()));
      },
    }),
  });
}

function stopAgentTool(parts: AgentToolParts): Tool {
  return defineTool({
    name: 'stop_agent',
    changesNothing: true,
    description: 'Ends an agent, and all that it began.',
    fields: { agent_id: text('The id of the agent.') },
    isRepeatable: true,
    prepare: ({ agent_id: agentId }, context) => ({
      type: 'run',
      run: async () => {
        const subAgents = parts.subAgents();
        requireTask(subAgents, agentId, context);
        return success(
          (await subAgents.stop(agentId)) ? `Agent ${agentId} was stopped.` : `Agent ${agentId} had ended.`,
        );
      },
    }),
  });
}

/** An agent that the caller leads; of others it learns nothing, not even that they exist. */
function requireTask(
  subAgents: SubAgents,
  agentId: string,
  { agentId: leader }: Pick<ToolContext, 'agentId'>,
): AgentTask {
  const task = subAgents.find(agentId);
  if (!task || !subAgents.isLedBy(task, leader))
    throw new ToolFailure(
      `No agent found with agent_id: ${agentId}. The agent may have been cleared or never existed.`,
    );
  return task;
}

function agentNotes(agents: readonly AgentDefinition[]): string {
  const lines = agents.map(({ name, description }) => `- ${name}: ${description.slice(0, 300)}`);
  return `Agents that can be asked:\n${lines.join('\n').slice(0, 8000)}`;
}

function success(content: string): ToolResult {
  return { type: 'success', text: content };
}
