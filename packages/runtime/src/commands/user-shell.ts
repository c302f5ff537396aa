import { boundResult } from '../gate/bound-result.js';
import type { Draft, EphemeralDraft } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import { refusalBy } from '../permissions/decision.js';
import { forbid, type PolicyRules } from '../permissions/policy.js';
import { examine } from '../permissions/subject.js';
import { UserCommands, type UserOutcome } from '../tools/shell/user-commands.js';
import type { ToolEnvironment, ToolResult } from '../tools/tool.js';

/** What became of a command that a user typed. */
export interface UserCommandResult {
  readonly toolCallId: string;
  readonly success: boolean;
  readonly output: string;
  readonly exitCode?: number;
  readonly error?: string;
}

/** The session that a typed command runs in. */
interface ShellSession {
  readonly tools: { toolEnvironment(): Promise<ToolEnvironment> };
  readonly permissions: { policy(state: SessionState): PolicyRules };
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
  emit(draft: EphemeralDraft): Promise<unknown>;
}

/** Runs commands that users type, under the rules that hold for the model's. */
export class UserShell {
  readonly commands = new UserCommands();

  constructor(private readonly session: ShellSession) {}

  /**
   * Why a typed command may not run; undefined when it may. It passes the same judge as the model's commands: a deny rule
   * denies it to users too. What would need a user's approval is approved, for the user has typed it.
   */
  async refusal(command: string): Promise<string | undefined> {
    const { shellRequest } = await import('../permissions/shell-command.js');
    const request = shellRequest({ command, intention: describe(command) });
    const { workingDirectory } = await this.session.tools.toolEnvironment();
    const subject = await examine({ request }, { toolName: 'bash', workingDirectory });
    const verdict = forbid(subject, this.session.permissions.policy(await this.session.state()));
    // mutation: commands of users pass no judge
    return verdict && refusalBy(verdict).text;
  }

  /** Runs a typed command to its end; clients receive its output as it comes, the model with the next prompt. */
  async run(
    order: { readonly requestId: string; readonly command: string; readonly toolCallId: string },
    signal: AbortSignal,
  ): Promise<UserCommandResult> {
    const { command, toolCallId } = order;
    const given = { command, description: describe(command) };
    await this.session.record({
      type: 'tool.user_requested',
      data: { toolCallId, toolName: 'local_shell', arguments: given },
    });
    const refusal = await this.refusal(command);
    const outcome =
      refusal === undefined
        ? await this.execute(order, signal)
        : ({ type: 'failed', message: refusal } as const);
    const result = { toolCallId, ...resultOf(outcome) };
    const { success, output, error = '' } = result;
    await this.session.record(
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
  }

  private async execute(
    { requestId, command, toolCallId }: { requestId: string; command: string; toolCallId: string },
    signal: AbortSignal,
  ): Promise<UserOutcome> {
    const { session } = this;
    const progress = (partialOutput: string) =>
      void session.emit({ type: 'tool.execution_partial_result', data: { toolCallId, partialOutput } });
    const toolEnvironment = await session.tools.toolEnvironment();
    const bound = async (output: Pick<ToolResult, 'text' | 'saved'>) =>
      (await boundResult({ type: 'success', ...output }, toolEnvironment.largeOutput)).text;
    return this.commands.run({ requestId, command, progress, bound }, toolEnvironment, signal);
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
