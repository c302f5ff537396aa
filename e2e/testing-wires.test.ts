import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { configuredProvider, type ModelEvent } from '@groundcrew/models';
import { record, replay, temporaryDirectory } from '@groundcrew/testing';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

const fixtures = join(import.meta.dirname, '../packages/models/fixtures');
const directory = temporaryDirectory();
let server: Server;
let fixture = '';

beforeAll(async () => {
  vi.stubEnv('CI', '');
  server = createServer((request, response) => {
    request.resume().on('end', () => {
      const type = fixture.endsWith('.sse') ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type }).end(readFileSync(fixture));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  vi.unstubAllEnvs();
  directory.remove();
  server.close();
  await once(server, 'close');
});

const services = {
  'openai-chat': { type: 'openai', wireApi: 'completions' },
  'openai-responses': { type: 'openai', wireApi: 'responses' },
  'anthropic-messages': { type: 'anthropic' },
} as const;

/** What a session would hear of the answer; ids and seals are of each run, and arguments may come in other pieces. */
async function received(
  wire: keyof typeof services,
  baseUrl: string,
  stream: boolean,
): Promise<readonly unknown[]> {
  const provider = configuredProvider(
    { ...services[wire], baseUrl, apiKey: 'key-of-the-tests' },
    { environment: {}, version: 'test' },
  );
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] }];
  const request = { model: 'm', system: 's', messages, tools: [], stream };
  const events: ModelEvent[] = [];
  try {
    for await (const batch of provider.stream(request, new AbortController().signal)) events.push(...batch);
  } catch (error) {
    return [...events.flatMap(plain), { failed: error instanceof Error ? error.message : error }];
  }
  return events.flatMap(plain);
}

function plain(event: ModelEvent): readonly unknown[] {
  switch (event.type) {
    case 'tool_call_delta':
      return [];
    case 'tool_call':
      return [{ type: 'tool_call', name: event.call.name, arguments: event.call.argumentsText }];
    case 'kept':
      return [{ type: 'kept', place: event.kept.place, fields: Object.keys(event.kept.block) }];
    case 'end':
      return [{ type: 'end', reason: event.reason, usage: event.usage, model: event.model ?? 'm' }];
    default:
      return event.type === 'text' || event.type === 'reasoning' ? [[event.type, event.delta]] : [event];
  }
}

describe.each(Object.keys(services) as (keyof typeof services)[])('%s', (wire) => {
  const names = readdirSync(join(fixtures, wire)).filter((name) => !name.endsWith('.events.json'));
  test.each(names)('%s is heard the same from a cassette', async (name) => {
    fixture = join(fixtures, wire, name);
    const stream = name.endsWith('.sse');
    const { port } = server.address() as AddressInfo; // a server on a port has no other kind of address
    const upstream = `http://127.0.0.1:${port}`;
    const file = join(directory.path, `${wire}-${name}.yaml`);
    const recording = await record({ upstream, file });
    const live = await received(wire, recording.baseUrl, stream);
    await recording.close();
    await using cassette = await replay({ file });
    expect(await received(wire, cassette.baseUrl, stream)).toEqual(live);
    cassette.verify();
  });
});
