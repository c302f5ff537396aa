/** What a starter app is named, and which version of the packages it asks for. */
export interface Starter {
  readonly name: string;
  readonly version: string;
}

/** The files of a starter app: an agent with a tool, a test that needs no key, and what it takes to ship it. */
export function starterFiles(starter: Starter): ReadonlyMap<string, string> {
  return new Map([
    ['package.json', `${JSON.stringify(manifest(starter), undefined, 2)}\n`],
    ['tsconfig.json', `${JSON.stringify(tsconfig, undefined, 2)}\n`],
    ['src/agent.ts', agent],
    ['src/main.ts', main],
    ['test/agent.test.ts', test],
    ['Dockerfile', dockerfile],
    ['.dockerignore', 'node_modules\n.git\n'],
    ['.gitignore', 'node_modules\n'],
    ['README.md', readme(starter.name)],
  ]);
}

function manifest({ name, version }: Starter): object {
  return {
    name,
    version: '0.0.0',
    private: true,
    type: 'module',
    engines: { node: '^20.19.0 || >=22.12.0' },
    scripts: {
      start: 'tsx src/main.ts',
      test: 'node --import tsx --test test/*.test.ts',
      check: 'tsc --noEmit',
    },
    dependencies: {
      '@groundcrew/sdk': `^${version}`,
      groundcrew: `^${version}`,
      tsx: '^4.20.0',
      zod: '^4.0.0',
    },
    devDependencies: {
      '@groundcrew/testing': `^${version}`,
      '@types/node': '^20.19.0',
      typescript: '>=5.8',
    },
  };
}

const tsconfig = {
  compilerOptions: {
    target: 'es2022',
    lib: ['es2023', 'esnext.disposable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  },
  include: ['src', 'test'],
};

const agent = `import { defineTool, type PermissionRequest, type PermissionRequestResult, type SessionOptions } from '@groundcrew/sdk';
import * as z from 'zod';

const orders = new Map([['A-17', 'on its way']]);

/** What the agent can do beside its built-in tools. */
const orderStatus = defineTool('order_status', {
  description: 'Looks up where an order is',
  parameters: z.object({ order: z.string().describe('The number of the order, such as A-17') }),
  handler: ({ order }) => \`order \${order} is \${orders.get(order) ?? 'unknown'}\`,
});

/** Only the app's own tool may run. Ask the user here, or approve more. */
function decide(request: PermissionRequest): PermissionRequestResult {
  return request.kind === 'custom-tool' ? { kind: 'approve-once' } : { kind: 'reject' };
}

/** The agent of this app. Without a provider, the small offline model inside the runtime answers. */
export const agent: SessionOptions = {
  tools: [orderStatus],
  onPermissionRequest: decide,
  systemMessage: { mode: 'append', content: 'You help customers of a shop. Be brief.' },
};
`;

const main = `import { Client } from '@groundcrew/sdk';
import { agent } from './agent.js';

const prompt = process.argv.slice(2).join(' ') || "Use the tool order_status with order 'A-17', then reply with the result";

await using client = new Client(); // starts a runtime when it is first needed
await using session = await client.createSession({ ...agent, streaming: true });
for await (const text of session.stream(prompt)) process.stdout.write(text);
process.stdout.write('\\n');
`;

const test = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@groundcrew/sdk';
import { callTools, say, scriptedModel, temporaryWorkplace } from '@groundcrew/testing';
import { agent } from '../src/agent.js';

test('an order is looked up and reported', async () => {
  using workplace = temporaryWorkplace();
  await using client = new Client(workplace.clientOptions);
  await using model = await scriptedModel(
    callTools({ name: 'order_status', arguments: { order: 'A-17' } }),
    ({ messages }) => say(\`I looked: \${messages.at(-1)?.text}.\`),
  );
  await using session = await client.createSession({ ...agent, ...model.settings });
  const answer = await session.sendAndWait('Where is my order A-17?');
  assert.equal(answer?.data.content, 'I looked: order A-17 is on its way.');
  model.verify();
});

test('commands are not run', async () => {
  using workplace = temporaryWorkplace();
  await using client = new Client(workplace.clientOptions);
  await using model = await scriptedModel(callTools({ name: 'bash', arguments: { command: 'touch made', description: 'x' } }), say('I may not.'));
  await using session = await client.createSession({ ...agent, ...model.settings });
  const denied: string[] = [];
  session.on('tool.execution_complete', ({ data }) => {
    if (!data.success) denied.push(data.toolCallId);
  });
  await session.sendAndWait('Make a file');
  assert.equal(denied.length, 1);
});
`;

const dockerfile = `FROM node:22-slim
WORKDIR /app
COPY package*.json ./
RUN npm install --omit=dev && npm cache clean --force
COPY src ./src
# Sessions live here: mount a volume to keep them.
ENV GROUNDCREW_HOME=/data
RUN mkdir /data && chown node:node /data
VOLUME /data
USER node
ENTRYPOINT ["npx", "tsx", "src/main.ts"]
`;

function readme(name: string): string {
  return `# ${name}

An app with an agent in it, on [Groundcrew](https://github.com/groundcrew/groundcrew).

\`\`\`sh
npm install
npm start                       # the offline model answers: no key, no account
npm test                        # scripted models: no key, no network
OPENAI_API_KEY=… npm start -- "Where is my order A-17?"
docker build -t ${name} . && docker run --rm -v ${name}-data:/data ${name}
\`\`\`

\`src/agent.ts\` is the agent: its tools, its permissions, its instructions. \`src/main.ts\` is the program, \`test/\` its tests.
`;
}
