import { Chat } from '../chat/chat.js';
import { configFlags, readConfig } from '../config/config.js';
import { openLocalClient } from '../sessions/local-client.js';
import { sessionFlags } from '../sessions/session-choice.js';
import { Display } from '../terminal/display.js';
import { LineInput } from '../terminal/line-input.js';
import { WaitingIndicator } from '../terminal/waiting-indicator.js';
import { defineCommand } from './command.js';
import { openCommandLog } from './command-log.js';

const { sessionIdleTimeout: _, ...settings } = configFlags;

/** `groundcrew`: a conversation, line by line. */
export const chat = defineCommand({
  usage: ['groundcrew [flags]'],
  summary: 'Talks with a model, line by line; /help lists the commands',
  flags: { ...settings, ...sessionFlags },
  acceptsPeerFlags: true,
  notes: 'Ctrl-C stops the answer, twice it ends the program; so does the end of the input.',
  run: async ({ flags }, terminal) => {
    const config = readConfig(flags, terminal.environment);
    const { log, redactor } = openCommandLog(config, terminal);
    const { client, close } = await openLocalClient(config, terminal, log);
    const { input, output, errorOutput } = terminal;
    const isTerminal = terminal.inputKind === 'terminal' && output.isTTY === true;
    const lines = new LineInput({ input, output, isTerminal });
    try {
      const indicator = isTerminal && errorOutput.isTTY ? new WaitingIndicator(errorOutput) : undefined;
      const display = new Display({ output, errorOutput, redactor, ...(indicator && { indicator }) });
      return await new Chat({ client, config, flags, lines, display, isTerminal }, terminal).run();
    } finally {
      lines.close();
      await close();
      log.close();
    }
  },
});
