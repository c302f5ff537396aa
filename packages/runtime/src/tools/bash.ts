import { eventLoopTurn } from '../event-loop-turn.js';
import { defineTool } from './define-tool.js';
import { choice, flag, type Input, number, optional, text } from './fields.js';
import { runCommand, startInBackground } from './shell/run-command.js';
import { type Tool, type ToolContext, ToolInputError } from './tool.js';

const fields = {
  command: text('The command to run.'),
  description: text('What the command does, in a few words for the user.'),
  shellId: optional(text('A name for the command, to read or stop it by later.')),
  mode: optional(
    choice('sync (the default): wait for the result. async: start it in the background and go on.', [
      'sync',
      'async',
    ]),
  ),
  detach: optional(
    flag(
      'With mode async: let it outlive the session, as a server should that is to stay. In a sandbox nothing outlives the session.',
    ),
  ),
  initial_wait: optional(
    number(
      'With mode sync: seconds to wait, from 30 (the default) to 600, before the command goes on in the background.',
    ),
  ),
};

type Wanted = Input<typeof fields>;

/** Runs a command in a shell of its own. */
export function bashTool(): Tool {
  return defineTool({
    name: 'bash',
    description:
      'Runs a bash command and returns what it writes to stdout and stderr, in order, with its exit code. Each call is a new shell in the working directory, with no terminal and nothing to read on stdin. In a sandbox, what a command leaves running ends with it: start what is to go on with mode async.',
    fields,
    intention: ({ description }) => description,
    preview: async (wanted) => {
      const { request } = await permissionToRun(wanted);
      const { possiblePaths, hasWriteFileRedirection } = request;
      return { shellToolInfo: { possiblePaths, hasWriteFileRedirection } };
    },
    prepare: async (wanted, context) => {
      requireRunnable(wanted.command);
      return {
        type: 'run',
        questions: [await permissionToRun(wanted)],
        run: (signal) => run(wanted, context, signal),
        runHardened: (signal) => run({ ...wanted, isHardened: true }, context, signal),
      };
    },
  });
}

/** More than this no system takes as one argument of a program. */
const longestCommand = 128 * 1024 - 1;

function requireRunnable(command: string): void {
  if (command.includes('\0')) throw new ToolInputError('"command": Must not contain NUL characters');
  if (Buffer.byteLength(command) > longestCommand)
    throw new ToolInputError(
      `"command": Must not be longer than ${longestCommand} bytes; write it to a file and run that`,
    );
}

function run(wanted: Wanted & { readonly isHardened?: boolean }, context: ToolContext, signal: AbortSignal) {
  const { command, description, shellId, mode = 'sync', detach = false, isHardened = false } = wanted;
  const order = { command, description, isHardened, ...(shellId !== undefined && { shellId }) };
  if (mode === 'async') return startInBackground({ ...order, isDetached: detach }, context);
  const seconds = Math.min(Math.max(wanted.initial_wait ?? 0, shortestWait), longestWait);
  return runCommand({ ...order, seconds }, context, signal);
}

const shortestWait = 30;
const longestWait = 600;

/** The reader of commands is loaded with the first of them. */
async function permissionToRun({ command, description }: Wanted) {
  const { shellRequest } = await import('../permissions/shell-command.js');
  await eventLoopTurn();
  return { request: shellRequest({ command, intention: description }) };
}
