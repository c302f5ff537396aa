import type { AgentContext, ClientCapabilities } from '@agentclientprotocol/sdk';
import type { ToolResultObject } from '@groundcrew/sdk';

/** What the tools of one session need of its editor. */
export interface EditorToolParts {
  readonly editor: AgentContext;
  readonly abilities: ClientCapabilities;
  readonly workingDirectory: string;
  /** Resolves when the editor has been shown all that came before. */
  ready(): Promise<void>;
  /** The call was asked for while this agent was there. */
  isLive(toolCallId: string): boolean;
  /** The call shows what this terminal of the editor has. */
  showTerminal(toolCallId: string, terminalId: string): void;
}

/** A result that the model and users read; `details` is the diff that users are shown. */
export function succeeded(text: string, details?: string): ToolResultObject {
  return {
    textResultForLlm: text,
    resultType: 'success',
    ...(details !== undefined && { sessionLog: details }),
  };
}

/** Why a call came to nothing. */
export function failed(text: string): ToolResultObject {
  return { textResultForLlm: text, resultType: 'failure', error: text };
}
