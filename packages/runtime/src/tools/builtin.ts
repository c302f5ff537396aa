import type { SessionMode } from '@groundcrew/protocol';
import { askUserTool } from './ask-user.js';
import { bashTool } from './bash.js';
import { createTool } from './create.js';
import { editTool } from './edit.js';
import { exitPlanModeTool } from './exit-plan-mode.js';
import type { WebFetchOptions } from './fetch-page.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { listBashTool } from './list-bash.js';
import { readBashTool } from './read-bash.js';
import { recallTool } from './recall.js';
import { reportIntentTool } from './report-intent.js';
import { sqlTool } from './sql.js';
import { stopBashTool } from './stop-bash.js';
import { taskCompleteTool } from './task-complete.js';
import type { Tool } from './tool.js';
import { viewTool } from './view.js';
import { webFetchTool } from './web-fetch.js';

/** What the built-in tools go by, for all sessions of a process. */
export interface BuiltinOptions {
  readonly webFetch: WebFetchOptions;
}

/** Who takes part in a session, as far as its tools go by it. */
export interface Clients {
  /** Some client wants `report_intent`, the tool by which a model announces its next step. */
  readonly reportsIntent: boolean;
  /** Some client answers questions of the agent. */
  readonly answersQuestions: boolean;
  /** Some client says what follows a plan. */
  readonly answersPlans: boolean;
  readonly mode: SessionMode;
}

/** Clients that answer everything, in a session that does not plan. */
export const answeringClients: Clients = {
  reportsIntent: false,
  answersQuestions: true,
  answersPlans: true,
  mode: 'interactive',
};

/** The names of the built-in tools that need no permission. */
export function freeToolNames(): ReadonlySet<string> {
  const tools = builtinTools({ webFetch: { allowedHosts: [] } })({
    ...answeringClients,
    reportsIntent: true,
  });
  return new Set(tools.filter(({ isFree }) => isFree).map(({ name }) => name));
}

/** The built-in tools in the order in which the model gets them; made once, shared by all sessions. */
export function builtinTools(options: BuiltinOptions): (clients: Clients) => readonly Tool[] {
  const askUser = askUserTool();
  const reportIntent = reportIntentTool();
  const exitPlanMode = exitPlanModeTool();
  const taskComplete = taskCompleteTool();
  const all = [
    bashTool(),
    readBashTool(),
    stopBashTool(),
    listBashTool(),
    viewTool(),
    createTool(),
    editTool(),
    webFetchTool(options.webFetch),
    askUser,
    exitPlanMode,
    taskComplete,
    sqlTool(),
    grepTool(),
    globTool(),
    recallTool(),
    reportIntent,
  ];
  return ({ reportsIntent, answersQuestions, answersPlans, mode }) => {
    const isThere = new Map([
      [reportIntent, reportsIntent],
      [askUser, answersQuestions],
      [exitPlanMode, mode === 'plan' && answersPlans],
      [taskComplete, mode === 'autopilot'],
    ]);
    return all.filter((tool) => isThere.get(tool) ?? true);
  };
}
