import { bashTool } from './bash.js';
import { createTool } from './create.js';
import { editTool } from './edit.js';
import type { WebFetchOptions } from './fetch-page.js';
import { globTool } from './glob.js';
import { grepTool } from './grep.js';
import { listBashTool } from './list-bash.js';
import { readBashTool } from './read-bash.js';
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

/** The built-in tools in the order the model is told of them; made once, shared by all sessions. */
export function builtinTools(
  options: BuiltinOptions,
): (audience: { readonly isOld: boolean }) => readonly Tool[] {
  const current = [
    bashTool(),
    readBashTool(),
    stopBashTool(),
    listBashTool(),
    viewTool(),
    createTool(),
    editTool(),
    webFetchTool(options.webFetch),
    sqlTool(),
    grepTool(),
    globTool(),
  ];
  const old = [...current, reportIntentTool()];
  return ({ isOld }) => (isOld ? old : current);
}
