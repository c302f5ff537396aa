import type { SessionHead } from '@groundcrew/store';
import type { SessionSettings } from './session-settings.js';

/** What a session goes by that no client has opened; its log knows the rest. */
export function adoptedSettings({ context, needs }: SessionHead): SessionSettings {
  const { providerRef } = needs ?? {};
  return {
    clientName: 'sdk',
    streaming: true,
    exclusionWins: false,
    trace: {},
    workingDirectory: context.cwd,
    ...(providerRef !== undefined && { providerRef }),
  };
}
