import { refusalBy } from '../permissions/decision.js';
import { forbid } from '../permissions/policy.js';
import { examine } from '../permissions/subject.js';
import type { UserOutcome } from '../tools/shell/user-commands.js';
import type { Session } from './session.js';

/** What became of a command that a person typed. */
export interface UserCommandResult {
  readonly toolCallId: string;
  readonly success: boolean;
  readonly output: string;
  readonly exitCode?: number;
  readonly error?: string;
}

/**
 * Why a command that a person wants to run may not; undefined when it may. It passes the same judge as the model's:
 * what a rule denies is denied to people too. Leave that would have to be asked for is theirs to give, and given by asking.
 */
export async function refusalOfUserCommand(session: Session, command: string): Promise<string | undefined> {
  const { shellRequest } = await import('../permissions/shell-command.js');
  const request = shellRequest({ command, intention: describe(command) });
  const { workingDirectory } = await session.tools.toolEnvironment();
  const subject = await examine({ request }, { toolName: 'bash', workingDirectory });
  const verdict = forbid(subject, await session.policy());
  // mutation: commands of users pass no judge
  return verdict && refusalBy(verdict).text;
}

/** Runs a command that a person typed, to its end; clients see it as it goes, and the model with its next prompt. */
export async function runUserCommand(
  session: Session,
  order: { readonly requestId: string; readonly command: string; readonly toolCallId: string },
  signal: AbortSignal,
): Promise<UserCommandResult> {
  const { requestId, command, toolCallId } = order;
  const given = { command, description: describe(command) };
  await session.record({
    type: 'tool.user_requested',
    data: { toolCallId, toolName: 'local_shell', arguments: given },
  });
  const refusal = await refusalOfUserCommand(session, command);
  const outcome = refusal === undefined ? await run() : ({ type: 'failed', message: refusal } as const);
  const result = { toolCallId, ...resultOf(outcome) };
  const { success, output, error = '' } = result;
  await session.record(
    { note: 'verbatim', data: { id: toolCallId, text: textFor(command, outcome) } },
    {
      type: 'tool.execution_complete',
      data: {
        toolCallId,
        isUserRequested: true,
        success,
        ...(success ? { result: { content: output } } : { error: { message: error } }),
      },
    },
  );
  return result;

  async function run(): Promise<UserOutcome> {
    const progress = (partialOutput: string) =>
      void session.emit({ type: 'tool.execution_partial_result', data: { toolCallId, partialOutput } });
    const toolEnvironment = await session.tools.toolEnvironment();
    return session.userCommands.run({ requestId, command, progress }, toolEnvironment, signal);
  }
}

function describe(command: string): string {
  return `Execute shell command: ${command}`;
}

function resultOf(outcome: UserOutcome): Omit<UserCommandResult, 'toolCallId'> {
  switch (outcome.type) {
    case 'ended': {
      const { output, exitCode } = outcome;
      if (exitCode === 0) return { success: true, output, exitCode };
      return { success: false, output, exitCode, error: output || endedWith(exitCode) };
    }
    case 'cancelled':
      return { success: false, output: outcome.output, error: 'Shell command canceled.' };
    case 'failed':
      return { success: false, output: '', error: outcome.message };
  }
}

/** What the model reads of it. */
function textFor(command: string, outcome: UserOutcome): string {
  const output = outcome.type === 'failed' ? '' : outcome.output;
  return `<user_shell_command_output>
The user ran a shell command by themselves. ${howItEnded(outcome)}

Command:
${command}

Output:
${output}
</user_shell_command_output>`;
}

function howItEnded(outcome: UserOutcome): string {
  if (outcome.type === 'ended') return `It ${endedWith(outcome.exitCode)}.`;
  return outcome.type === 'cancelled' ? 'They stopped it.' : `It did not run: ${outcome.message}`;
}

function endedWith(exitCode: number): string {
  return `ended with exit code ${exitCode}`;
}
