import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type AskedBody, completionMessages } from './completion-messages.js';
import { type SpokenParts, scriptedWireFor } from './scripted-wires.js';
import type { CompletionMessage } from './strict-history.js';

/** Answers by what was said so far, so that asking again gives the same answer again. One that waits is a model at work, one that throws refuses. */
export type Rule = (
  messages: readonly CompletionMessage[],
  headers: IncomingHttpHeaders,
) => SpokenParts | Promise<SpokenParts>;

/** The API that a session is to speak. */
export type RuleWire = 'chat' | 'responses' | 'messages';

/** A real HTTP server that answers by a rule, on every wire, and refuses histories that a strict service would. */
export class RuleModel {
  /** How often it was asked. */
  requests = 0;
  /** Why histories were refused. */
  readonly refusals: string[] = [];

  private constructor(
    private readonly server: Server,
    private readonly options: { readonly rule: Rule; readonly chunkPause: number },
  ) {}

  /** `chunkPause`: milliseconds before each streamed chunk, none by default. */
  static async open(rule: Rule, { chunkPause = 0 } = {}): Promise<RuleModel> {
    const server = createServer();
    const model = new RuleModel(server, { rule, chunkPause });
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const call = { path: request.url ?? '', headers: request.headers };
        void model.serve(JSON.parse(Buffer.concat(chunks).toString()), call, response);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return model;
  }

  /** The settings that lead a session to this model. */
  get settings() {
    return this.settingsFor('chat');
  }

  /** The same on another wire. */
  settingsFor(wire: RuleWire): {
    readonly model: string;
    readonly provider: {
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly [field: string]: string;
    };
  } {
    const { port } = this.server.address() as AddressInfo; // a server on a port has no other kind of address
    const provider = { baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key-of-the-tests' };
    return { model: 'rules', provider: { ...provider, ...wireFields[wire] } };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(
    asked: AskedBody,
    call: { readonly path: string; readonly headers: IncomingHttpHeaders },
    response: ServerResponse,
  ): Promise<void> {
    this.requests += 1;
    const wire = scriptedWireFor(call);
    const fault = wire.faultIn(asked);
    if (fault !== undefined) {
      this.refusals.push(fault);
      refuse(response, fault);
      return;
    }
    const answer = await this.answerTo(asked, call.headers);
    if (answer instanceof Error) {
      refuse(response, answer.message);
      return;
    }
    if (asked.stream) await this.stream(wire.streamOf(answer, asked.model), response);
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(wire.bodyOf(answer, asked.model)));
    }
  }

  private async answerTo(asked: AskedBody, headers: IncomingHttpHeaders): Promise<SpokenParts | Error> {
    try {
      return await this.options.rule(completionMessages(asked), headers);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  }

  private async stream(lines: readonly string[], response: ServerResponse): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const line of lines) {
      if (this.options.chunkPause > 0) await pause(this.options.chunkPause);
      response.write(line);
    }
    response.end();
  }
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(400, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message } }));
}

const wireFields: Readonly<Record<RuleWire, Readonly<Record<string, string>>>> = {
  chat: {},
  responses: { wireApi: 'responses' },
  messages: { type: 'anthropic' },
};
