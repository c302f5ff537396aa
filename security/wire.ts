import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { methods } from '@groundcrew/protocol';
import { RuntimeProcess, temporaryDirectory, WireClient, type WireSession } from '@groundcrew/testkit';
import fc from 'fast-check';
import type { Attack, AttackOptions } from './attack.js';

const token = 'the-token-of-the-attacked-port';

/** What the file outside of the home says. */
const canary = 'the-canary-is-untouched';

/** The session that is aimed at. It is made again and again: some requests delete it, as they should. */
const target = 'target';

/** What a client says first. */
const greeting = frameOf(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'connect', params: { token } }));

/**
 * Sends requests that no client would send, to every method of the table, and frames that are none. Each request must be
 * answered, without a stack and without the token. No frame may end more than its own connection, nothing may be made
 * outside of the home, and a neighbour's session must go on as if nothing happened.
 */
export async function attackWire({ count, seed }: AttackOptions): Promise<Attack> {
  const world = temporaryDirectory();
  const [home, outside] = ['home', 'outside'].map((name) => join(world.path, name)) as [string, string];
  for (const directory of [home, outside]) mkdirSync(directory);
  writeFileSync(join(outside, 'canary'), canary);
  const runtime = new RuntimeProcess({
    flags: ['--headless', '--port', '0', '--log-level', 'none'],
    home,
    environment: { COPILOT_CONNECTION_TOKEN: token },
  });
  const violations: string[] = [];
  try {
    const neighbour = await new Neighbour(await admitted(runtime)).open();
    const attacker = await admitted(runtime);
    const requests = fc.sample(hostileRequest(target), { numRuns: count, seed });
    for (const [index, { method, params }] of requests.entries()) {
      if (index % 20 === 0) await attacker.call('session.create', { sessionId: target });
      const why = await fault(attacker, method, params);
      const made = takeAway(outside);
      const found = [
        ...(why === undefined ? [] : [why]),
        ...made.map((name) => `made ${name} outside of the home`),
      ];
      for (const each of found) violations.push(`${method} ${JSON.stringify(params).slice(0, 200)}: ${each}`);
      if (index % 250 === 0) violations.push(...(await neighbour.fault()));
    }
    const frames = fc.sample(hostileFrame, { numRuns: Math.ceil(count / 10), seed });
    for (const [index, frame] of frames.entries())
      await throwAway(await runtime.port(), index % 2 === 0 ? frame : Buffer.concat([greeting, frame]));
    violations.push(...(await neighbour.fault()), ...attacker.problems);
    for (const name of takeAway(outside))
      violations.push(`A frame or a turn made ${name} outside of the home`);
    if (readFileSync(join(outside, 'canary'), 'utf8') !== canary) violations.push('The canary was changed');
    if (runtime.stderr.includes(token)) violations.push('The token is on stderr');
    return { tried: requests.length + frames.length, violations };
  } finally {
    await runtime.stop();
    world.remove();
  }
}

/** What was made there, which is gone then, so that the next request is not blamed for it. */
function takeAway(outside: string): readonly string[] {
  const made = readdirSync(outside).filter((name) => name !== 'canary');
  for (const name of made) rmSync(join(outside, name), { recursive: true });
  return made;
}

async function admitted(runtime: RuntimeProcess): Promise<WireClient> {
  const client = new WireClient(await runtime.connect());
  await client.call('connect', { token });
  return client;
}

/** Another client of the same runtime, whose turns must go on. */
class Neighbour {
  private session: WireSession | undefined;

  constructor(private readonly client: WireClient) {}

  async open(): Promise<this> {
    this.session = await this.client.create();
    return this;
  }

  async fault(): Promise<readonly string[]> {
    const events = (await this.session?.turn('Reply with exactly: undisturbed')) ?? [];
    const said = events.flatMap((event) =>
      event.type === 'assistant.message' ? [(event.data as { content: string }).content] : [],
    );
    return said.join() === 'undisturbed' ? [] : [`The neighbour was answered: ${said.join() || 'nothing'}`];
  }
}

const patience = 15_000;

/** Why an answer to a hostile request is none; undefined when it is one. */
async function fault(client: WireClient, method: string, params: unknown): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`was not answered within ${patience / 1000} s`), patience);
  });
  const answered = client.failure(method, params).then((answer) => {
    const text = JSON.stringify(answer);
    if (text.includes(token)) return 'showed the token';
    if (text.includes(canary)) return 'showed a file outside of the home';
    if ('result' in answer) return undefined;
    if (typeof answer.code !== 'number') return `failed without a code: ${String(answer.message)}`;
    return /\bat .*\.[cm]?[jt]s:\d+/.test(String(answer.message))
      ? `showed a stack: ${answer.message}`
      : undefined;
  });
  return Promise.race([answered, late]).finally(() => clearTimeout(timer));
}

/** What ends the program, and what would give the token. */
const spared: ReadonlySet<string> = new Set(['runtime.shutdown', 'connect']);

/** Fields by which a client may run a command of its own, or put a home elsewhere: both are its right. */
const rights: ReadonlySet<string> = new Set(['command', 'configDir']);

/** Names that no table has. */
const strangeNames = ['', '__proto__', 'constructor', 'session.toString', 'session.', 'x'.repeat(10_000)];

const hostileText = fc.constantFrom(
  '',
  ' ',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../outside/made',
  '../../../../outside/made', // from a session's own files
  '../../../../outside/canary',
  '/proc/self/environ',
  'a\u0000b',
  '\ud800',
  '\u2028',
  '%s%s%n',
  "'; DROP TABLE record; --",
  '$(touch ../outside/made)',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of an attack
  '${COPILOT_CONNECTION_TOKEN}',
  'x'.repeat(100_000),
  '[['.repeat(5_000),
);

/** Just under what ends a connection; deeper ones are among the frames. */
const deepest = 500;

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, false, 0, -1, 1.5, 2 ** 53 + 2, -(2 ** 63), 1e308),
  fc.array(hostileText, { maxLength: 3 }),
  fc.dictionary(hostileText, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 }),
  fc.jsonValue({ maxDepth: 4 }),
  fc.constant(deep(deepest)),
  fc.constant(Array.from({ length: 5_000 }, () => null)),
);

/** A request to a method of the table: fields that it knows, with values that it does not expect. */
function hostileRequest(sessionId: string): fc.Arbitrary<{ method: string; params: unknown }> {
  const names = Object.keys(methods).filter((name) => !spared.has(name));
  return fc.constantFrom(...names, ...strangeNames).chain((method) => {
    const fields = fieldsOf(method);
    const some =
      fields.length === 0 ? fc.constant({}) : fc.dictionary(fc.constantFrom(...fields), hostileValue);
    // Texts alone pass most checks of shape, and get further.
    const texts = fc.record(Object.fromEntries(fields.map((field) => [field, hostileText])));
    const aimed = fc.boolean().map((isAimed) => (isAimed ? { sessionId } : {}));
    const whole = fc.tuple(fc.oneof(some, texts), aimed).map(([one, other]) => ({ ...one, ...other }));
    return fc
      .oneof({ weight: 6, arbitrary: whole }, { weight: 1, arbitrary: hostileValue })
      .map((params) => ({
        method,
        params: typeof params === 'object' ? params : [params],
      }));
  });
}

function fieldsOf(method: string): readonly string[] {
  if (!Object.hasOwn(methods, method)) return [];
  const schema: unknown = methods[method as keyof typeof methods].params();
  const shape = (schema as { readonly shape?: object }).shape; // of an object schema; others have no fields
  return shape ? Object.keys(shape).filter((name) => !rights.has(name)) : [];
}

function deep(levels: number): unknown {
  let value: unknown = 'deep';
  for (let i = 0; i < levels; i++) value = [value];
  return value;
}

const hostileFrame: fc.Arbitrary<Buffer> = fc.oneof(
  fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)),
  fc
    .tuple(
      fc.constantFrom('-1', '0', '1', '99999999999999', 'NaN', '5\r\nContent-Length: 6', '1e9'),
      fc.string(),
    )
    .map(([length, body]) => Buffer.from(`Content-Length: ${length}\r\n\r\n${body}`)),
  fc.string().map(frameOf),
  fc.json({ maxDepth: 5 }).map(frameOf),
  fc
    .constantFrom('[]', '{}', '[{}]', '{"jsonrpc":"2.0","id":{},"method":"ping"}', '{"id":1,"result":1}')
    .map(frameOf),
  fc.constant(frameOf(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)),
  fc.constant(Buffer.from(`X: ${'y'.repeat(70_000)}`)),
);

function frameOf(body: string): Buffer {
  return Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

/** Sends bytes from a connection of their own, and leaves. */
function throwAway(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.end(bytes));
    socket.resume();
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
}
