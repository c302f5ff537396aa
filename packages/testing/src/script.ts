import type { ServerResponse } from 'node:http';
import { TestingError } from './errors.js';
import { faultIn } from './history.js';
import { isJson, parseJson } from './json.js';
import { type Incoming, sendEvents, sendJson } from './local-server.js';
import type { AskedModel, ScriptedAnswer, ScriptedReply } from './scripted-reply.js';
import { wireNamed, wireNameOf } from './wires/wires.js';
import { type AnswerStyle, type WrittenFor, writeEvents, writeWhole } from './write-answer.js';

/** How a script differs from the usual one. */
export interface ScriptOptions extends AnswerStyle {
  /** Why a service would refuse the call; a strict one of any API unless given. */
  readonly faultIn?: (asked: AskedModel) => string | undefined;
  /** What is answered instead of the next reply, if anything. */
  readonly outOfTurn?: (asked: AskedModel) => ScriptedReply | undefined;
  /** What a failure is called; empty where the service says nothing but its message. */
  readonly failureCode?: string;
}

/** Plays a script to any caller, on the wire of its request, and keeps the requests. */
export class Script {
  readonly replies: ScriptedReply[];
  readonly requests: AskedModel[] = [];
  readonly refusals: string[] = [];
  private readonly waiting: { readonly times: number; resolve(): void }[] = [];
  private missing = 0;
  private calls = 0;

  constructor(
    replies: readonly ScriptedReply[],
    private readonly options: ScriptOptions = {},
  ) {
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
    const fault = this.faultOf(asked);
    if (fault === undefined) return this.reply(this.next(asked), asked, response);
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

  private next(asked: AskedModel): ScriptedReply {
    return this.options.outOfTurn?.(asked) ?? this.replies.shift() ?? this.over();
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
      case 'status':
        return sendJson(response, reply.status, reply.body, reply.headers);
      case 'after':
        await reply.ready;
        return this.reply(reply.reply, asked, response);
      case 'hangUp':
        await sendEvents(
          response,
          writeEvents({ pieces: reply.pieces }, { ...this.callOf(asked), isCut: true }),
        );
        response.destroy();
        return;
      case 'answer':
        if (asked.body.stream !== true)
          return sendJson(response, 200, writeWhole(this.withIds(reply), this.callOf(asked)));
        await sendEvents(response, writeEvents(this.withIds(reply), this.callOf(asked)));
        response.end();
    }
  }

  private fail(
    { status, message, headers }: Omit<Extract<ScriptedReply, { type: 'failure' }>, 'type'>,
    asked: AskedModel,
    response: ServerResponse,
  ): void {
    sendJson(
      response,
      status,
      wireNamed(asked.wire).writeFailure(message, this.options.failureCode ?? 'scripted'),
      headers,
    );
  }

  private withIds({ calls = [], ...answer }: ScriptedAnswer): ScriptedAnswer {
    const named = calls.map((call) => {
      this.calls += 1;
      return { id: `call_${this.calls}`, ...call };
    });
    return { ...answer, calls: named };
  }

  private faultOf(asked: AskedModel): string | undefined {
    return this.options.faultIn ? this.options.faultIn(asked) : faultIn(asked.messages);
  }

  private callOf({ wire, body }: AskedModel): WrittenFor {
    return { wire, model: String(body.model), number: this.requests.length, body, ...this.options };
  }
}
