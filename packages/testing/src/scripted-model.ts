import type { ServerResponse } from 'node:http';
import type { ProviderConfig } from '@groundcrew/sdk';
import type { Answer, AnswerPart } from './conversation.js';
import { TestingError } from './errors.js';
import { faultIn } from './history.js';
import { isJson, parseJson } from './json.js';
import { type Incoming, LocalServer, sendEvents, sendJson } from './local-server.js';
import type { AskedModel, ScriptedAnswer, ScriptedReply } from './scripted-reply.js';
import type { WireName } from './wires/wire.js';
import { wireNamed, wireNameOf } from './wires/wires.js';

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

/** What tells a session to use a service at this address. */
function settingsAt(baseUrl: string, wire: WireName): ModelSettings {
  return { model: 'scripted', provider: { ...kinds[wire], baseUrl, apiKey: 'no-key-is-needed' } };
}

const kinds: Readonly<Record<WireName, Pick<ProviderConfig, 'type' | 'wireApi'>>> = {
  'openai-chat': { type: 'openai', wireApi: 'completions' },
  'openai-responses': { type: 'openai', wireApi: 'responses' },
  'anthropic-messages': { type: 'anthropic' },
};

class Script {
  readonly replies: ScriptedReply[];
  readonly requests: AskedModel[] = [];
  readonly refusals: string[] = [];
  private readonly waiting: { readonly times: number; resolve(): void }[] = [];
  private callIds = 0;
  private missing = 0;

  constructor(replies: readonly ScriptedReply[]) {
    this.replies = [...replies];
  }

  async serve({ path, headers, text }: Incoming, response: ServerResponse): Promise<void> {
    const wire = wireNameOf(path);
    const body = parseJson(text);
    if (wire === undefined || !isJson(body)) {
      if (path.endsWith('/models')) return sendJson(response, 200, { data: [{ id: 'scripted' }] });
      return sendJson(response, 404, { error: { message: `A scripted model has no ${path}` } });
    }
    const { messages } = wireNamed(wire).readQuestion(body);
    const asked: AskedModel = { wire, path, headers, body, messages };
    this.requests.push(asked);
    for (const { times, resolve } of this.waiting) if (this.requests.length >= times) resolve();
    const fault = faultIn(messages);
    if (fault === undefined) return this.reply(this.replies.shift() ?? this.over(), asked, response);
    this.refusals.push(fault);
    return this.fail({ status: 400, message: fault, headers: {} }, asked, response);
  }

  async asked(times: number): Promise<AskedModel> {
    if (this.requests.length < times)
      await new Promise<void>((resolve) => this.waiting.push({ times, resolve }));
    const request = this.requests[times - 1];
    if (!request) throw new RangeError(`There is no call number ${times}`);
    return request;
  }

  verify(): void {
    const problems = [
      ...this.refusals.map((fault) => `A strict service would have refused a request: ${fault}`),
      ...(this.replies.length > 0 ? [`${this.replies.length} replies of the script were not asked for`] : []),
      ...(this.missing > 0 ? [`${this.missing} calls came after the script was over`] : []),
    ];
    if (problems.length > 0) throw new TestingError('not_as_expected', problems.join('\n'));
  }

  private over(): ScriptedReply {
    this.missing += 1;
    const message = `The script is over: this is call ${this.requests.length}`;
    return { type: 'failure', status: 400, message, headers: {} };
  }

  private async reply(reply: ScriptedReply, asked: AskedModel, response: ServerResponse): Promise<void> {
    if (typeof reply === 'function') return this.reply(await reply(asked), asked, response);
    switch (reply.type) {
      case 'failure':
        return this.fail(reply, asked, response);
      case 'after':
        await reply.ready;
        return this.reply(reply.reply, asked, response);
      case 'hangUp':
        await sendEvents(response, this.eventsOf({ pieces: reply.pieces }, 'broken', asked));
        response.destroy();
        return;
      case 'answer':
        if (asked.body.stream !== true) return sendJson(response, 200, this.wholeOf(reply, asked));
        await sendEvents(response, this.eventsOf(reply, 'complete', asked));
        response.end();
    }
  }

  private fail(
    { status, message, headers }: Omit<Extract<ScriptedReply, { type: 'failure' }>, 'type'>,
    asked: AskedModel,
    response: ServerResponse,
  ): void {
    sendJson(response, status, wireNamed(asked.wire).writeFailure(message, 'scripted'), headers);
  }

  private wholeOf(scripted: ScriptedAnswer, asked: AskedModel) {
    return wireNamed(asked.wire).writeWhole(this.answerOf(scripted, 'complete', asked), this.callOf(asked));
  }

  private eventsOf(scripted: ScriptedAnswer, ending: Answer['ending'], asked: AskedModel): readonly string[] {
    return wireNamed(asked.wire).writeStream(this.answerOf(scripted, ending, asked), this.callOf(asked));
  }

  private callOf({ body }: AskedModel) {
    return { model: String(body.model), number: this.requests.length, body };
  }

  private answerOf(
    { thoughts = [], pieces = [], calls = [] }: ScriptedAnswer,
    ending: Answer['ending'],
    { wire }: AskedModel,
  ): Answer {
    const called = calls.map(({ name, arguments: given = {}, id }): AnswerPart => {
      this.callIds += 1;
      const argumentsText = typeof given === 'string' ? given : JSON.stringify(given);
      return { type: 'call', call: { id: id ?? `call_${this.callIds}`, name, argumentsText } };
    });
    const thought: AnswerPart = {
      type: 'thought',
      pieces: thoughts,
      ...(wire !== 'openai-chat' && { seal: 'scripted' }),
    };
    const parts: readonly AnswerPart[] = [
      ...(thoughts.length > 0 ? [thought] : []),
      ...(pieces.length > 0 ? [{ type: 'text', pieces } as const] : []),
      ...called,
    ];
    return { parts, ending, usage: usages[wire] };
  }
}

/** Some small figures, as each API counts. */
const usages: Readonly<Record<WireName, Answer['usage'] & object>> = {
  'openai-chat': { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  'openai-responses': { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
  'anthropic-messages': { input_tokens: 7, output_tokens: 3 },
};
