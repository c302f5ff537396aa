import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type SpokenParts, scriptedWireFor } from './scripted-wires.js';
import { type CompletionMessage, faultIn } from './strict-history.js';

/** Answers by what was said so far, so that asking again gives the same answer again. */
export type Rule = (messages: readonly CompletionMessage[]) => SpokenParts;

const chat = scriptedWireFor({ path: '/chat/completions', headers: {} });

interface AskedRule {
  readonly model: string;
  readonly messages: readonly CompletionMessage[];
  readonly stream?: boolean;
}

/** A real HTTP server that speaks chat completions by a rule and refuses histories that a strict service would. */
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
      request.on('end', () => void model.serve(JSON.parse(Buffer.concat(chunks).toString()), response));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return model;
  }

  /** The settings that lead a session to this model. */
  get settings(): {
    readonly model: string;
    readonly provider: { readonly baseUrl: string; readonly apiKey: string };
  } {
    const { port } = this.server.address() as AddressInfo; // a server on a port has no other kind of address
    return { model: 'rules', provider: { baseUrl: `http://127.0.0.1:${port}`, apiKey: 'key-of-the-tests' } };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(asked: AskedRule, response: ServerResponse): Promise<void> {
    this.requests += 1;
    const fault = faultIn(asked.messages);
    if (fault !== undefined) {
      this.refusals.push(fault);
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: fault } }));
      return;
    }
    const answer = this.options.rule(asked.messages);
    if (asked.stream) await this.stream(chat.streamOf(answer, asked.model), response);
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(chat.bodyOf(answer, asked.model)));
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
