import type { HookGuard } from '../hooks/guard.js';
import type { Hooks } from '../hooks/hooks.js';
import { remindersOf, submitPrompt } from '../hooks/submitted-prompt.js';
import type { AgentLog } from '../log/agent-log.js';
import type { Draft } from '../log/session-log.js';
import { forbid } from '../permissions/policy.js';
import { searchExclusions } from '../permissions/real-rules.js';
import { addressSubject, placeSubject, toolSubject } from '../permissions/subject.js';
import {
  type PreparedCall,
  type ToolContext,
  type ToolEnvironment,
  ToolFailure,
  type ToolNotice,
} from '../tools/tool.js';
import type { Toolset } from '../tools/toolset.js';
import type { CallToRun } from './call.js';
import { type GatePermissions, requireNotForbidden } from './call-permissions.js';

/** What the gate gives a call to be prepared with. */
interface Preparation {
  readonly log: AgentLog;
  readonly permissions: GatePermissions;
  readonly hooks: Hooks;
  readonly guard: HookGuard;
  toolEnvironment(): ToolEnvironment;
}

/** Finds the tool and has it check its input; nothing has happened yet when this throws. */
export async function prepareCall(
  call: CallToRun,
  toolset: Toolset,
  parts: Preparation,
): Promise<PreparedCall> {
  const tool = toolset.find(call.name);
  if (!tool) throw unknownTool(call.name, toolset);
  if (call.problem !== undefined) throw new ToolFailure(call.problem);
  const { cwd: workingDirectory } = parts.log.session.context;
  // mutation: the gate lets forbidden tools through
  requireNotForbidden(toolSubject({ toolName: call.name, workingDirectory }), parts);
  return tool.prepare(call.arguments, contextFor(call, parts));
}

function contextFor(call: CallToRun, parts: Preparation): ToolContext {
  const { log, permissions } = parts;
  const { toolCallId } = call;
  const { cwd: workingDirectory } = log.session.context;
  const occasion = { toolName: call.name, workingDirectory };
  return {
    checkPlace: (place) => requireNotForbidden(placeSubject(place, occasion), parts),
    checkAddress: (url) => requireNotForbidden(addressSubject(url, occasion), parts),
    isForbidden: (place) => forbid(placeSubject(place, occasion), permissions.prohibitions()) !== undefined,
    searchExclusions: () => searchExclusions(permissions.prohibitions().deny, workingDirectory),
    sessionId: log.sessionId,
    ...(log.agentId !== undefined && { agentId: log.agentId }),
    toolCallId,
    notify: (notice) => {
      if (notice.type === 'system.notification') void notifyModel(notice, parts);
      else if (notice.type === 'session.info' || notice.type === 'session.todos_changed') log.emit(notice);
      else log.append(...completion(notice, log));
    },
    progress: (partialOutput) => {
      // What hooks may redact, clients see when hooks have.
      if (parts.hooks.has('postToolUse') || parts.guard.isAwayForResults) return;
      log.emit({ type: 'tool.execution_partial_result', data: { toolCallId, partialOutput } });
    },
    ...parts.toolEnvironment(),
  };
}

/** A task that is done is the objective's, where there is one. */
function completion(notice: Draft, { agentId, session }: AgentLog): Draft[] {
  const { objective } = session;
  if (!('type' in notice) || notice.type !== 'session.task_complete' || agentId !== undefined)
    return [notice];
  if (!objective || objective.status === 'completed') return [notice];
  const data = { ...notice.data, objectiveId: objective.id, outcome: 'completed' as const };
  const change = { operation: 'update', id: objective.id, status: 'completed' } as const;
  return [
    { type: 'session.task_complete', data },
    { type: 'session.autopilot_objective_changed', data: change },
  ];
}

/** Hooks see what the runtime says to the model as they see what users say. */
async function notifyModel(
  { type, data }: Extract<ToolNotice, { type: 'system.notification' }>,
  { log, hooks }: Preparation,
): Promise<void> {
  if (!hooks.has('userPromptSubmitted')) {
    log.append({ type, data });
    return;
  }
  // It belongs to no turn: nothing stops its hooks but their own time.
  const { text, contexts } = await submitPrompt(hooks, data.content, new AbortController().signal);
  log.append({ type, data: { ...data, content: text + remindersOf(contexts) } });
}

function unknownTool(name: string, { tools }: Toolset): ToolFailure {
  const names = tools.map((tool) => tool.name).join(', ');
  return new ToolFailure(
    `Tool '${name}' does not exist. Available tools that can be called are ${names}.`,
    `Tool '${name}' does not exist.`,
  );
}
