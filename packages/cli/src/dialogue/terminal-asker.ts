import { LineInput } from '../terminal/line-input.js';
import type { Terminal } from '../terminal/terminal.js';
import type { Asker } from './dialogue.js';

/** Asks on a terminal that is otherwise left alone: it is read only while a question is open. */
export function terminalAsker(
  { input, errorOutput }: Pick<Terminal, 'input' | 'errorOutput'>,
  /** Ctrl-C, which is no signal while a line is edited. */
  onInterrupt: () => void,
): Asker {
  return {
    answer: async (question, signal) => {
      const lines = new LineInput({ input, output: errorOutput, isTerminal: true });
      lines.onInterrupt(onInterrupt);
      try {
        await lines.clearTyped();
        return await lines.answer(question, signal);
      } finally {
        lines.close();
      }
    },
  };
}
