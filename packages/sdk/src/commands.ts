/** One use of a slash command. */
export interface CommandContext {
  readonly sessionId: string;
  /** As it was typed: `/deploy production`. */
  readonly command: string;
  readonly commandName: string;
  readonly args: string;
}

/** A slash command of the app. */
export interface CommandDefinition {
  /** Without the slash. */
  readonly name: string;
  readonly description?: string;
  /** Runs it; what it throws is what the user reads. */
  handler(context: CommandContext, signal: AbortSignal): void | Promise<void>;
}
