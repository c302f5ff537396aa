import type { SessionHead } from '@groundcrew/store';
import type { FixedSettings } from '../log/fixed-settings.js';
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

/** A session that named its service once goes on with it, wherever it is opened; undefined when nothing changes. */
export function namingProvider(
  settings: SessionSettings,
  { providerRef }: Partial<FixedSettings>,
): SessionSettings | undefined {
  const isNamed = settings.providerRef !== undefined || settings.provider?.baseUrl !== undefined;
  return providerRef === undefined || isNamed ? undefined : { ...settings, providerRef };
}
