import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { approveAll, Client, defineTool, type Session } from '@groundcrew/sdk';
import {
  after,
  callTools,
  getFinalAssistantMessage,
  getNextEventOfType,
  record,
  refuse,
  replay,
  say,
  scriptedModel,
  temporaryWorkplace,
  twoClients,
  useCassette,
  type WireName,
  type Workplace,
} from '@groundcrew/testing';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

let workplace: Workplace;
let client: Client;
beforeEach(() => {
  vi.stubEnv('CI', '');
  workplace = temporaryWorkplace();
  client = new Client(workplace.clientOptions);
});
afterEach(async () => {
  await client.stop();
  workplace.remove();
  vi.unstubAllEnvs();
});

const wires: readonly WireName[] = ['openai-chat', 'openai-responses', 'anthropic-messages'];

/** A conversation with a built-in tool, a tool of the app, and a second prompt. */
async function talk(session: Session): Promise<readonly (string | undefined)[]> {
  const first = await session.sendAndWait('Which ticket is open?');
  const second = await session.sendAndWait('Close it.');
  return [first?.data.content, second?.data.content];
}

function tickets(place: Workplace, id: string) {
  writeFileSync(join(place.workingDirectory, 'tickets.txt'), `open: ${id}\n`);
  const closed: string[] = [];
  const close = defineTool('close_ticket', {
    description: 'Closes a ticket',
    parameters: { type: 'object', properties: { ticket: { type: 'string' } }, required: ['ticket'] },
    handler: ({ ticket }) => {
      closed.push(ticket);
      return `closed ${ticket}`;
    },
  });
  return { closed, options: { tools: [close], onPermissionRequest: approveAll } };
}

describe.each(wires)('an agent recorded by %s', (wire) => {
  test.each([true, false])(
    'is replayed in another place, streaming: %s',
    { timeout: 60_000 },
    async (streaming) => {
      const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
      const path = join(workplace.workingDirectory, 'tickets.txt');
      await using model = await scriptedModel(
        callTools({ name: 'view', arguments: { path }, id: 'call_Ab12' }),
        say(`Ticket `, `${id} `, 'is open.'),
        callTools({ name: 'close_ticket', arguments: { ticket: id }, id: 'call_Cd34' }),
        say('Done.'),
      );
      const file = join(workplace.homeDirectory, 'cassette.yaml');
      const { closed, options } = tickets(workplace, id);
      const recording = await record({ ...workplace.cassetteOptions, upstream: model.baseUrl, file });
      const { provider, ...settings } = model.settingsFor(wire);
      await using session = await client.createSession({
        ...options,
        ...settings,
        streaming,
        provider: { ...provider, baseUrl: recording.baseUrl },
      });
      expect(await talk(session)).toEqual([`Ticket ${id} is open.`, 'Done.']);
      await recording.close();
      model.verify();
      const text = readFileSync(file, 'utf8');
      expect(text).not.toContain(workplace.workingDirectory);
      expect(text.match(/continues: /g)).toHaveLength(3);

      const other = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
      const elsewhere = temporaryWorkplace();
      await using replaying = new Client(elsewhere.clientOptions);
      const again = tickets(elsewhere, other);
      await using cassette = await replay({ ...elsewhere.cassetteOptions, file });
      await using replayed = await replaying.createSession({
        ...again.options,
        ...settings,
        streaming: !streaming,
        provider: { ...provider, baseUrl: cassette.baseUrl },
      });
      const answers = await talk(replayed);
      expect(cassette.problems).toEqual([]);
      expect(answers).toEqual([`Ticket ${other} is open.`, 'Done.']);
      expect([closed, again.closed]).toEqual([[id], [other]]);
      cassette.verify();
      elsewhere.remove();
    },
  );
});

describe('a session that asks for what was not recorded', () => {
  test.each(wires)('by %s fails at once, with the message that differs', async (wire) => {
    await using model = await scriptedModel(say('Hello.'));
    const file = join(workplace.homeDirectory, 'cassette.yaml');
    const { provider, ...settings } = model.settingsFor(wire);
    const recording = await record({ ...workplace.cassetteOptions, upstream: model.baseUrl, file });
    const session = await client.createSession({
      ...settings,
      provider: { ...provider, baseUrl: recording.baseUrl },
    });
    await session.sendAndWait('Say hello in English');
    await recording.close();

    await using cassette = await replay({ ...workplace.cassetteOptions, file });
    const replayed = await client.createSession({
      ...settings,
      provider: { ...provider, baseUrl: cassette.baseUrl },
    });
    const failure = getNextEventOfType(replayed, 'session.error');
    await replayed.send('Say hello in French');
    expect((await failure).data).toMatchObject({
      statusCode: 404,
      message: expect.stringMatching(
        /Not recorded in cassette\.yaml\. The nearest is exchange 1 .* Message 2 of 2 \(user\) differs first: .*- Say hello in English \+ Say hello in French/,
      ),
    });
    // Asked once: a refusal that was tried again would stand here twice.
    expect(cassette.problems).toHaveLength(1);
    expect(() => cassette.verify()).toThrow('Say hello in French');
    await expect(getFinalAssistantMessage(replayed)).rejects.toThrow('The session failed');
  });
});

test('a cassette is played back until recording is asked for, and never recorded by CI', async () => {
  await using model = await scriptedModel(say('one'), say('two'));
  const file = join(workplace.homeDirectory, 'cassette.yaml');
  const options = { ...workplace.cassetteOptions, upstream: model.baseUrl, file };
  const ask = async () => {
    const cassette = await useCassette(options);
    const { provider, ...settings } = model.settings;
    const session = await client.createSession({
      ...settings,
      provider: { ...provider, baseUrl: cassette.baseUrl },
    });
    const answer = await session.sendAndWait('Count');
    await cassette.close();
    cassette.verify();
    return answer?.data.content;
  };
  await expect(ask()).rejects.toThrow(`Cannot read the cassette ${file}`);
  vi.stubEnv('GROUNDCREW_RECORD', '1');
  expect(await ask()).toBe('one');
  vi.stubEnv('CI', 'true');
  expect(await ask()).toBe('one');
  expect(model.requests).toHaveLength(1);
});

describe('waiting', () => {
  test('the final message is there at once for an idle session, and when the turn is over for a busy one', async () => {
    let release = (): void => undefined;
    const ready = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using model = await scriptedModel(say('one'), after(ready, say('two')));
    const session = await client.createSession(model.settings);
    await expect(getFinalAssistantMessage(session)).rejects.toThrow('the agent has said nothing');
    await session.sendAndWait('first');
    expect((await getFinalAssistantMessage(session)).data.content).toBe('one');
    await session.send('second');
    await model.asked(2);
    const final = getFinalAssistantMessage(session);
    release();
    expect((await final).data.content).toBe('two');
    model.verify();
  });

  test('an event that does not come, a session that fails and a signal end it', async () => {
    await using model = await scriptedModel(refuse(400, 'no'));
    const session = await client.createSession(model.settings);
    await expect(getNextEventOfType(session, 'session.idle', { timeout: 20 })).rejects.toMatchObject({
      kind: 'timeout',
      message: 'session.idle did not come within 20 ms; heard: nothing',
    });
    const stop = new AbortController();
    const stopped = getNextEventOfType(session, 'session.idle', { signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    const waiting = getNextEventOfType(session, 'assistant.message');
    await session.send('hi');
    await expect(waiting).rejects.toMatchObject({ kind: 'session_error' });
  });
});

test('two clients share a session, and one decides what the other one runs', async () => {
  await using model = await scriptedModel(callTools({ name: 'deploy' }), say('Deployed.'));
  const asked: string[] = [];
  await using pair = await twoClients({
    session: {
      ...model.settings,
      tools: [defineTool('deploy', { parameters: { type: 'object' }, handler: () => 'ok' })],
    },
    joining: {
      onPermissionRequest: (request) => {
        asked.push(request.kind);
        return { kind: 'approve-once' };
      },
    },
  });
  const received = getNextEventOfType(pair.second.session, 'assistant.turn_end');
  const answer = await pair.first.session.sendAndWait('Deploy it');
  expect([answer?.data.content, asked]).toEqual(['Deployed.', ['custom-tool']]);
  await received;
  expect((await getFinalAssistantMessage(pair.second.session)).data.content).toBe('Deployed.');
  const { workingDirectory } = pair.workplace;
  await pair.close();
  expect(() => mkdirSync(join(workingDirectory, 'x'))).toThrow('ENOENT');
});

test('the test that the docs show passes as it stands', { timeout: 60_000 }, async () => {
  const repository = join(import.meta.dirname, '..');
  const page = readFileSync(join(repository, 'docs', 'testing.md'), 'utf8');
  const [, program = ''] = /```ts\n(.*?)```/s.exec(page) ?? [];
  expect(program.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(20);
  const file = join(workplace.workingDirectory, 'docs.mts');
  writeFileSync(file, program);
  symlinkSync(join(repository, 'node_modules'), join(workplace.workingDirectory, 'node_modules'));
  const paths = { '@groundcrew/*': [join(repository, 'packages', '*', 'src', 'index.ts')] };
  const config = join(workplace.workingDirectory, 'tsconfig.json');
  const extended = join(repository, 'tsconfig.base.json');
  writeFileSync(config, JSON.stringify({ extends: extended, compilerOptions: { paths } }));
  const tsx = join(repository, 'node_modules', 'tsx', 'dist', 'cli.mjs');
  const { env } = workplace.clientOptions;
  await promisify(execFile)(process.execPath, [tsx, '--tsconfig', config, file], { env });
});
