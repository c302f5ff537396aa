import { isLeftAsItIs, type TurnOutcome } from '../agents/turn-outcome.js';
import type { LogReaders } from '../log/log-readers.js';
import type { Draft } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';
import type { ClientRequests } from '../questions/client-requests.js';
import type { CommandResult } from './builtin-commands.js';
import type { CommandPrompt, SessionCommands } from './session-commands.js';

/** What queued commands work with. */
interface QueuedCommandParts {
  readonly commands: SessionCommands;
  readonly requests: ClientRequests;
  readonly readers: LogReaders;
  /** Writes these; says how a turn ends that could not. */
  record(...drafts: readonly Draft[]): Promise<TurnOutcome>;
}

/** How a queued command ended: with an outcome, or with a prompt that takes its place. */
type CommandEnd = TurnOutcome | { readonly prompt: Prompt };

/**
 * Runs commands that waited among the prompts. Clients that registered interest in `command.queued` are offered each first;
 * what none of them handles is run as if it had been invoked.
 */
export class QueuedCommands {
  constructor(private readonly parts: QueuedCommandParts) {}

  async run(prompt: Prompt, signal: AbortSignal): Promise<CommandEnd> {
    if (prompt.isBegun) return this.close(prompt, warning(cutOff(prompt.text)));
    const { handled, stopProcessingQueue } = await this.offer(prompt, signal);
    if (isLeftAsItIs(signal)) return 'stopped';
    if (handled || signal.aborted) {
      const outcome = await this.close(prompt);
      if (outcome !== 'answered') return outcome;
      return handled && stopProcessingQueue ? 'held' : outcomeOf(signal);
    }
    const { name, args } = partsOf(prompt.text);
    try {
      return await this.invoke(prompt, { name, args }, signal);
    } catch (error) {
      if (isLeftAsItIs(signal)) return 'stopped';
      const reason = error instanceof Error ? error.message : String(error);
      const outcome = await this.close(
        prompt,
        ...(signal.aborted ? [] : [warning(`/${name} failed: ${reason}`)]),
      );
      return outcome === 'answered' ? outcomeOf(signal) : outcome;
    }
  }

  /** A command that no process goes on with is not run, and users learn of it. */
  async drop(prompt: Prompt): Promise<void> {
    const { text, isBegun } = prompt;
    await this.close(prompt, warning(isBegun ? cutOff(text) : `The queued command ${text} was not run.`));
  }

  private async invoke(
    prompt: Prompt,
    { name, args }: { readonly name: string; readonly args: string },
    signal: AbortSignal,
  ): Promise<CommandEnd> {
    const { commands, record } = this.parts;
    // A client's command may have an effect: one that a crash cuts off is not silently run again.
    if (commands.isOfClient(name))
      await record({ note: 'command.begun', data: { messageId: prompt.messageId } });
    const result = await commands.run(name, args, signal);
    if (result?.kind === 'agent-prompt')
      return promptOf(prompt, {
        text: result.prompt,
        displayText: result.displayPrompt,
        ...(result.mode !== undefined && { agentMode: result.mode }),
      });
    if (result) return this.close(prompt, ...textOf(result));
    const skill = await commands.skillPrompt(name, args);
    return skill ? promptOf(prompt, skill) : this.close(prompt, warning(`Unknown command: ${name}`));
  }

  /** Offers it to those who wait for such; when the last of them leaves, no answer is waited for. */
  private async offer(prompt: Prompt, signal: AbortSignal) {
    const { requests, readers } = this.parts;
    const isWanted = () => readers.isWanted('command.queued');
    if (!isWanted()) return {};
    const unwanted = new AbortController();
    const stop = readers.onInterest(() => {
      if (!isWanted()) unwanted.abort();
    });
    try {
      return await requests.offerCommand(prompt, AbortSignal.any([signal, unwanted.signal]));
    } catch (error) {
      if (signal.aborted || unwanted.signal.aborted) return {};
      throw error;
    } finally {
      stop();
    }
  }

  private close({ messageId }: Prompt, ...drafts: readonly Draft[]): Promise<TurnOutcome> {
    return this.parts.record({ note: 'prompt.withdrawn', data: { messageId } }, ...drafts);
  }
}

function outcomeOf({ aborted }: AbortSignal): TurnOutcome {
  return aborted ? 'aborted' : 'answered';
}

/** The command's own record stands for the prompt until that is a message: a crash before asks the command again. */
function promptOf({ messageId }: Prompt, made: CommandPrompt): { readonly prompt: Prompt } {
  return { prompt: { messageId, mode: 'enqueue', ...made } };
}

function partsOf(text: string): { readonly name: string; readonly args: string } {
  const [, name = '', args = ''] = /^\s*\/?(\S*)\s*([\s\S]*)$/.exec(text) ?? [];
  return { name, args };
}

/** What users read of a command that has no prompt for the model. */
function textOf(result: Exclude<CommandResult, { kind: 'agent-prompt' }>): Draft[] {
  if (result.kind === 'text') return [info(result.text)];
  if (result.kind === 'completed') return result.message === undefined ? [] : [info(result.message)];
  const names = result.options.map(({ name }) => `/${result.command} ${name}`);
  return [info(`${result.title}. Choose one of ${names.join(', ')}`)];
}

function cutOff(text: string): string {
  return `The queued command ${text} was cut off: whether it has run is not known. It is not run again.`;
}

function info(message: string): Draft {
  return { type: 'session.info', data: { infoType: 'command', message } };
}

function warning(message: string): Draft {
  return { type: 'session.warning', data: { warningType: 'command', message } };
}
