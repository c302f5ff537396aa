import type { TerminalContext } from './terminal-context.js';
import { TerminalUi } from './ui/terminal-ui.js';

/** Shows sessions in a terminal until the user leaves; resolves with the exit code. */
export function runTerminal(context: TerminalContext): Promise<number> {
  return new TerminalUi(context).run();
}

export type {
  ConnectionWatch,
  OpenedSession,
  SessionChoice,
  StopSignal,
  TerminalContext,
} from './terminal-context.js';
