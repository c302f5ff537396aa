import { askUserTool } from './ask-user.js';
import { bashTool } from './bash.js';
import { createTool } from './create.js';
import { editTool } from './edit.js';
import type { WebFetchOptions } from './fetch-page.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { listBashTool } from './list-bash.js';
import { readBashTool } from './read-bash.js';
import { recallTool } from './recall.js';
import { reportIntentTool } from './report-intent.js';
import { sqlTool } from './sql.js';
import { stopBashTool } from './stop-bash.js';
import type { Tool } from './tool.js';
import { viewTool } from './view.js';
import { webFetchTool } from './web-fetch.js';

/** What the built-in tools go by, for all sessions of a process. */
export interface BuiltinOptions {
  readonly webFetch: WebFetchOptions;
}

/** Who takes part in a session, as far as its tools go by it. */
export interface Clients {
  /** Some client has the tool by which the model says what it is about to do. */
  readonly reportsIntent: boolean;
  /** Some client answers questions of the agent. */
  readonly answersQuestions: boolean;
}

/** The names of the built-in tools that need no permission. */
export function freeToolNames(): ReadonlySet<string> {
  const tools = builtinTools({ webFetch: { allowedHosts: [] } })({
    reportsIntent: true,
    answersQuestions: true,
  });
  return new Set(tools.filter(({ isFree }) => isFree).map(({ name }) => name));
}

/** The built-in tools in the order the model is told of them; made once, shared by all sessions. */
export function builtinTools(options: BuiltinOptions): (clients: Clients) => readonly Tool[] {
  const askUser = askUserTool();
  const reportIntent = reportIntentTool();
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
    sqlTool(),
    grepTool(),
    globTool(),
    recallTool(),
    reportIntent,
  ];
  return ({ reportsIntent, answersQuestions }) =>
    all.filter((tool) => (tool !== reportIntent || reportsIntent) && (tool !== askUser || answersQuestions));
}
