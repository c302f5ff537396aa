import {
  type CallToolResult,
  completable,
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { addAskingRounds, requestState } from './asking-rounds.js';

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const sound = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

type Block = CallToolResult['content'][number];
const text = (value: string): Block => ({ type: 'text', text: value });
const image: Block = { type: 'image', data: pixel, mimeType: 'image/png' };
const pause = () => new Promise((done) => setTimeout(done, 50));

/** The tools, resources and prompts that scenarios of the suite ask a server for. */
export function fixtureServer(): McpServer {
  const server = new McpServer(
    { name: 'groundcrew-fixtures', version: '1.0.0' },
    {
      capabilities: { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {}, logging: {} },
      requestState,
    },
  );
  addPlainTools(server);
  addTellingTools(server);
  addAskingTools(server);
  addResources(server);
  addPrompts(server);
  addAskingRounds(server);
  return server;
}

function tool(
  server: McpServer,
  name: string,
  run: (context: ServerContext) => Promise<CallToolResult> | CallToolResult,
) {
  server.registerTool(
    name,
    { description: `Fixture ${name}`, inputSchema: z.object({}) },
    async (_, context) => run(context),
  );
}

function addPlainTools(server: McpServer): void {
  const contents: Readonly<Record<string, readonly Block[]>> = {
    test_simple_text: [text('This is a simple text response for testing.')],
    test_image_content: [image],
    test_audio_content: [{ type: 'audio', data: sound, mimeType: 'audio/wav' }],
    test_embedded_resource: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
    test_multiple_content_types: [
      text('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  };
  for (const [name, content] of Object.entries(contents))
    tool(server, name, () => ({ content: [...content] }));
  tool(server, 'test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
    },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
    additionalProperties: false,
  };
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: fromJsonSchema(schema as never) },
    async () => ({ content: [text('ok')] }),
  );
  const mirrored = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  server.registerTool(
    'test_mirrored_header',
    {
      description: 'Its region stands in a header, too',
      inputSchema: fromJsonSchema(mirrored as never),
    },
    async () => ({ content: [text('ok')] }),
  );
}

/** Tools that send something before they answer. */
function addTellingTools(server: McpServer): void {
  tool(server, 'test_tool_with_logging', async ({ mcpReq }) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', line);
      await pause();
    }
    return { content: [text('done')] };
  });
  tool(server, 'test_tool_with_progress', async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken: progressToken ?? 0, progress, total: 100 };
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params });
      await pause();
    }
    return { content: [text('done')] };
  });
  tool(server, 'test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'Only clients that want logs read this');
    return { content: [text('done')] };
  });
  tool(server, 'test_reconnection', async ({ http }) => {
    http?.closeSSE?.();
    await pause();
    return { content: [text('Reconnection test completed successfully')] };
  });
}

/** Tools that ask the client something. */
function addAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of the client', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text: prompt } }],
        maxTokens: 100,
      });
      const [first] = Array.isArray(content) ? content : [content];
      return { content: [text(`LLM response: ${first?.type === 'text' ? first.text : ''}`)] };
    },
  );
  const forms: Readonly<Record<string, object>> = {
    test_elicitation: {
      properties: {
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      },
      required: ['username', 'email'],
    },
    test_elicitation_sep1034_defaults: {
      properties: {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
    },
    test_elicitation_sep1330_enums: { properties: enums },
  };
  for (const [name, form] of Object.entries(forms))
    server.registerTool(
      name,
      { description: `Fixture ${name}`, inputSchema: z.object({ message: z.string().optional() }) },
      async ({ message = 'Please answer' }, { mcpReq }) => {
        const requestedSchema = { type: 'object', ...form } as never;
        const { action, content } = await mcpReq.elicitInput({ message, requestedSchema });
        return {
          content: [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)],
        };
      },
    );
}

const titled = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
];

const enums = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
};

function addResources(server: McpServer): void {
  const plain = { description: 'A text', mimeType: 'text/plain' };
  server.registerResource('text', 'test://static-text', plain, async ({ href }) => ({
    contents: [
      { uri: href, mimeType: 'text/plain', text: 'This is the content of the static text resource.' },
    ],
  }));
  server.registerResource('watched', 'test://watched-resource', plain, async ({ href }) => ({
    contents: [{ uri: href, mimeType: 'text/plain', text: 'Watched' }],
  }));
  const binary = { description: 'An image', mimeType: 'image/png' };
  server.registerResource('binary', 'test://static-binary', binary, async ({ href }) => ({
    contents: [{ uri: href, mimeType: 'image/png', blob: pixel }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const json = { description: 'By id', mimeType: 'application/json' };
  server.registerResource('template', template, json, async ({ href }, { id }) => ({
    contents: [
      {
        uri: href,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
  }));
  server.server.setRequestHandler('resources/subscribe', async () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', async () => ({}));
  server.server.setRequestHandler('logging/setLevel', async () => ({}));
}

function addPrompts(server: McpServer): void {
  const user = (content: Block) => ({ role: 'user' as const, content });
  server.registerPrompt('test_simple_prompt', { description: 'A simple prompt' }, async () => ({
    messages: [user(text('This is a simple prompt for testing.'))],
  }));
  const word = (what: string) =>
    completable(z.string().describe(what), (value) => [`${value}is`, `${value}ty`]);
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with arguments',
      argsSchema: z.object({ arg1: word('First test argument'), arg2: word('Second test argument') }),
    },
    async ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'A prompt with a resource',
      argsSchema: z.object({ resourceUri: z.string().describe('The resource') }),
    },
    async ({ resourceUri: uri }) => ({
      messages: [
        user({
          type: 'resource',
          resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        }),
        user(text('Please process the embedded resource above.')),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt with an image' }, async () => ({
    messages: [user(image), user(text('Please analyze the image above.'))],
  }));
}
