import type { ProviderConfig } from '@groundcrew/sdk';
import { LocalServer } from './local-server.js';
import { Script } from './script.js';
import type { AskedModel, ScriptedReply } from './scripted-reply.js';
import type { WireName } from './wires/wire.js';

/** The settings that lead a session to a model of this process. */
export interface ModelSettings {
  readonly model: string;
  readonly provider: ProviderConfig;
}

/** A model that plays a script over real HTTP, in the tongue it is asked in. */
export interface ScriptedModel extends AsyncDisposable {
  readonly baseUrl: string;
  /** To be spread into the options of a session. */
  readonly settings: ModelSettings;
  /** The same by another API; `settings` is by chat completions. */
  settingsFor(wire: WireName): ModelSettings;
  /** What it was asked, in order. */
  readonly requests: readonly AskedModel[];
  /** Conversations that a strict service would have refused; each one was. */
  readonly refusals: readonly string[];
  /** Adds to the script. */
  play(...replies: readonly ScriptedReply[]): void;
  /** Resolves with the call of this number, from 1, when it has come. */
  asked(times: number): Promise<AskedModel>;
  /** Throws a TestingError unless the whole script was played, and nothing else was asked. */
  verify(): void;
  close(): Promise<void>;
}

/** Opens a model that gives these replies, one for each call. */
export async function scriptedModel(...replies: readonly ScriptedReply[]): Promise<ScriptedModel> {
  const script = new Script(replies);
  const server = await LocalServer.open((incoming, response) => script.serve(incoming, response));
  const baseUrl = server.origin;
  const close = () => server.close();
  return {
    baseUrl,
    settings: settingsAt(baseUrl, 'openai-chat'),
    settingsFor: (wire) => settingsAt(baseUrl, wire),
    requests: script.requests,
    refusals: script.refusals,
    play: (...more) => script.replies.push(...more),
    asked: (times) => script.asked(times),
    verify: () => script.verify(),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The settings of a session that uses a service at this address. */
function settingsAt(baseUrl: string, wire: WireName): ModelSettings {
  return { model: 'scripted', provider: { ...kinds[wire], baseUrl, apiKey: 'no-key-is-needed' } };
}

const kinds: Readonly<Record<WireName, Pick<ProviderConfig, 'type' | 'wireApi'>>> = {
  'openai-chat': { type: 'openai', wireApi: 'completions' },
  'openai-responses': { type: 'openai', wireApi: 'responses' },
  'anthropic-messages': { type: 'anthropic' },
};
