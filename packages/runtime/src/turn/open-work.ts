import type { OpenWork } from '../compaction/summary.js';
import type { OpenQuestion } from '../log/open-question.js';
import { openQuestions, type SessionState } from '../log/state.js';
import type { Workspace } from '../workspace/workspace.js';

/** What a session has open besides its conversation. */
export async function openWorkOf(workspace: Workspace, state: SessionState): Promise<OpenWork> {
  const text = await workspace.readPlan().catch(() => undefined);
  const { rows } = await workspace.readTodos().catch(() => ({ rows: [] }));
  const isDone = ({ status }: (typeof rows)[number]) => status === 'done';
  const running = Object.values(state.tasks).filter(({ status }) => status === 'running');
  return {
    ...(text !== undefined && { plan: { path: workspace.planPath, text } }),
    todos: [...rows.filter((row) => !isDone(row)), ...rows.filter(isDone)].map(describeTodo),
    questions: openQuestions(state).map(describeQuestion),
    agents: running.map(({ agentId, name, description }) => `- ${name} (${agentId}): ${description}`),
  };
}

interface Todo {
  readonly id?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly status?: string | undefined;
}

function describeTodo({ id = '', title = '', description = '', status = 'open' }: Todo): string {
  const named = [id, title].filter((part) => part !== '').join(': ');
  return `- [${status}] ${named}${description === '' || description === title ? '' : ` (${description})`}`;
}

function describeQuestion(question: OpenQuestion): string {
  const said = wordsOf(question).replaceAll(/\s+/g, ' ').trim();
  return `- ${question.kind} ${question.requestId}${said === '' ? '' : `: ${said}`}`;
}

function wordsOf(question: OpenQuestion): string {
  switch (question.kind) {
    case 'user_input': {
      const { question: asked, choices = [] } = question.event;
      return choices.length === 0 ? asked : `${asked} (${choices.join(' / ')})`;
    }
    case 'permission':
      return JSON.stringify(question.event.permissionRequest);
    case 'external_tool':
      return `${question.event.toolName} ${JSON.stringify(question.event.arguments ?? {})}`;
    case 'elicitation':
      return question.event.message;
    case 'exit_plan_mode':
      return question.event.summary;
    case 'session_limits':
    case 'auto_mode_switch':
    case 'sampling':
      return '';
  }
}
