// Runs one published client for Node against the runtime and prints a line of JSON per step. Its API is known by what the
// package has: each generation is a difference in names, not in what is done.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const { packageDirectory, runtime, home, work, features } = JSON.parse(process.argv[2] ?? '{}');
const has = (feature) => features.includes(feature);
const limit = 20_000;
const clients = [];

const sdk = await step('load', () => import(pathToFileURL(join(packageDirectory, 'dist', 'index.js')).href));
if (!sdk) process.exit(0);
const isNewDecision = !has('old decisions');
const approve = async () => ({ kind: isNewDecision ? 'approve-once' : 'approved' });
const deny = async () => ({ kind: isNewDecision ? 'reject' : 'denied-interactively-by-user' });
const base = has('runs tools unasked') ? {} : { onPermissionRequest: approve };

const client = makeClient();
await step('start', () => client.start());
const session = await step('create', () => client.createSession({ ...base, ...lookup(() => 'BETA') }));
await step('send', async () => expectText(await turn(session, 'What is 1+1?'), '2'));
await step(
  'streaming',
  has('streaming') &&
    (async () => {
      const streaming = await client.createSession({ ...base, streaming: true });
      const events = await turn(streaming, 'Count to 5');
      if (!events.some(({ type }) => type === 'assistant.message_delta')) throw new Error('no delta came');
    }),
);
await step('tool', async () => {
  const events = await turn(session, "Use the tool lookup with key 'ALPHA', then reply with the result");
  expectText(events, 'BETA');
});
await step(
  'approve',
  has('permissions') &&
    (async () => {
      const approving = await client.createSession({ onPermissionRequest: approve });
      await turn(approving, "Write 'hello' to approved.txt");
      const text = readFileSync(join(work, 'approved.txt'), 'utf8').trim();
      if (text !== 'hello') throw new Error(`the file says ${text}`);
    }),
);
await step('command', async () => {
  const running = await client.createSession(has('permissions') ? { onPermissionRequest: approve } : base);
  const events = await turn(running, 'Run `echo hello`');
  const isDone = events.some(({ type }) => type === 'tool.execution_complete');
  if (!isDone) throw new Error('it did not hear how the command ended');
  await historyOf(running);
});
await step(
  'deny',
  has('permissions') &&
    (async () => {
      let asked = 0;
      const denying = await client.createSession({
        onPermissionRequest: async (...request) => {
          asked += 1;
          return deny(...request);
        },
      });
      await turn(denying, "Write 'hello' to denied.txt");
      if (asked === 0) throw new Error('the handler was not asked');
      if (existsSync(join(work, 'denied.txt'))) throw new Error('the file was written');
    }),
);
await step(
  'hooks',
  has('hooks') &&
    (async () => {
      let called = 0;
      const hooked = await client.createSession({
        ...base,
        ...lookup(() => 'BETA'),
        hooks: {
          onPreToolUse: async () => {
            called += 1;
            return { permissionDecision: 'allow' };
          },
        },
      });
      expectText(
        await turn(hooked, "Use the tool lookup with key 'ALPHA', then reply with the result"),
        'BETA',
      );
      if (called === 0) throw new Error('the hook was not called');
    }),
);
await step(
  'input',
  has('input') &&
    (async () => {
      const asking = await client.createSession({
        ...base,
        onUserInputRequest: async () => ({ answer: 'tea', wasFreeform: false }),
      });
      expectText(await turn(asking, "Ask me to choose between 'tea' and 'coffee'"), 'tea');
    }),
);
await step('abort', async () => {
  let called;
  const isCalled = new Promise((resolve) => {
    called = resolve;
  });
  const stuck = await client.createSession({
    ...base,
    ...lookup(() => {
      called();
      return new Promise(() => undefined);
    }),
  });
  const ended = turn(stuck, "Use the tool lookup with key 'ALPHA'");
  await isCalled;
  await stuck.abort();
  await ended;
});
await step('history', async () => {
  const events = await historyOf(session);
  for (const type of ['user.message', 'assistant.message'])
    if (!events.some((event) => event.type === type)) throw new Error(`no ${type} in the history`);
});
await step('list', async () => {
  const found = (await client.listSessions()).some(({ sessionId }) => sessionId === session.sessionId);
  if (!found) throw new Error('the session is not listed');
});
await step('resume', async () => {
  await (session.disconnect ? session.disconnect() : session.destroy());
  const second = makeClient();
  await second.start();
  let called = 0;
  const resumed = await second.resumeSession(session.sessionId, {
    ...base,
    ...lookup(() => {
      called += 1;
      return 'GAMMA';
    }),
  });
  expectText(await turn(resumed, 'What was my first message?'), '1+1');
  expectText(
    await turn(resumed, "Use the tool lookup with key 'ALPHA', then reply with the result"),
    'GAMMA',
  );
  if (called !== 1) throw new Error(`the tool ran ${called} times`);
  const errors = await second.stop();
  if (errors.length > 0) throw errors[0];
});
await step('delete', async () => {
  await client.deleteSession(session.sessionId);
  const found = (await client.listSessions()).some(({ sessionId }) => sessionId === session.sessionId);
  if (found) throw new Error('the session is still listed');
});
await step('stop', async () => {
  const errors = await client.stop();
  if (errors.length > 0) throw errors[0];
});
await Promise.allSettled(clients.map((each) => each.forceStop()));
process.exit(0);

function makeClient() {
  const { PATH, HOME, GROUNDCREW_PROTOCOL } = process.env;
  const env = { PATH, HOME, COPILOT_HOME: home, ...(GROUNDCREW_PROTOCOL && { GROUNDCREW_PROTOCOL }) };
  const made = new sdk.CopilotClient(
    sdk.RuntimeConnection
      ? { connection: sdk.RuntimeConnection.forStdio({ path: runtime }), env, workingDirectory: work }
      : { cliPath: runtime, env, cwd: work },
  );
  clients.push(made);
  return made;
}

function lookup(handler) {
  const parameters = { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] };
  return {
    tools: [{ name: 'lookup', description: 'Looks a key up', parameters, handler: async () => handler() }],
  };
}

/** Resolves with the events of a turn, up to the idle that ends it. */
function turn(target, prompt) {
  return new Promise((resolve, reject) => {
    const events = [];
    target.on((event) => {
      events.push(event);
      if (event.type === 'session.error') reject(new Error(event.data.message));
      if (event.type === 'session.idle') resolve(events);
    });
    target.send({ prompt }).catch(reject);
  });
}

function historyOf(target) {
  return target.getEvents ? target.getEvents() : target.getMessages();
}

function expectText(events, text) {
  const said = events.filter(({ type }) => type === 'assistant.message').map(({ data }) => data.content);
  if (!said.some((content) => content.includes(text))) throw new Error(`said ${JSON.stringify(said)}`);
}

/** Does one step within its time, and prints how it went; false for what the client does not have. */
async function step(name, work_) {
  if (work_ === false) {
    print({ step: name, outcome: 'absent' });
    return undefined;
  }
  let timer;
  try {
    const late = new Promise((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`not done after ${limit / 1000} s`)), limit);
    });
    const result = await Promise.race([work_(), late]);
    print({ step: name, outcome: 'ok' });
    return result;
  } catch (error) {
    print({ step: name, outcome: 'failed', message: error instanceof Error ? error.message : String(error) });
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
