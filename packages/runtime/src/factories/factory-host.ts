import type { EphemeralDraft } from '../log/session-log.js';
import type { AskedClient } from '../questions/asked-client.js';
import type { DeclaredPhase } from './run-files.js';

/** A client and the factories it runs. */
export interface FactoryProvider extends Pick<AskedClient, 'clientId' | 'ask'> {
  readonly factories: readonly {
    readonly name: string;
    readonly description?: string;
    /** Its client calls it a workflow, and is asked in those words. */
    readonly isWorkflow?: boolean;
    readonly phases?: readonly DeclaredPhase[];
  }[];
}

/** A request about a factory that cannot be done; `code` for clients that go by it. */
export class FactoryRefused extends Error {
  override readonly name = 'FactoryRefused';

  constructor(
    message: string,
    readonly code?: 'not_found' | 'non_resumable',
  ) {
    super(message);
  }
}

/** What factories need of their session: its clients, its agents and its events. */
export interface FactoryHost {
  readonly sessionId: string;
  readonly workspacePath: string;
  readonly audience: { factoryProviders(): readonly FactoryProvider[] };
  readonly agents: {
    /** Resolves with the next end of an agent. */
    changed(signal: AbortSignal): Promise<void>;
    start(given: {
      readonly agentType: string;
      readonly prompt: string;
      readonly name: string;
      readonly description: string;
      readonly model?: string;
    }): Promise<string>;
    task(
      agentId: string,
    ): Promise<{ readonly status: string; readonly result?: string; readonly error?: string } | undefined>;
  };
  emit(draft: EphemeralDraft): Promise<string>;
}
