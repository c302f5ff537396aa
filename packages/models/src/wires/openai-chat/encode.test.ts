import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import { expect, test } from 'vitest';
import { plainRequest } from '../../../test/local-server.js';
import type { ModelRequest } from '../../model.js';
import { encodeChat } from './encode.js';

const sampling = { temperature: 0, top_p: 0.95, frequency_penalty: 0, presence_penalty: 0 };
const view = {
  name: 'view',
  description: 'Shows a file.',
  inputSchema: { type: 'object', required: ['path'] },
};
const encodedView = {
  type: 'function',
  function: {
    name: 'view',
    description: 'Shows a file.',
    parameters: { type: 'object', required: ['path'], properties: {} },
  },
};

const conversation: ModelRequest = {
  ...plainRequest,
  messages: [
    { role: 'user', parts: [{ type: 'text', text: 'Look' }] },
    {
      role: 'assistant',
      text: '',
      toolCalls: [
        { callId: 'a', name: 'view', argumentsText: '{ "path":"x" }' },
        { callId: 'b', name: 'view', argumentsText: 'not json' },
      ],
    },
    { role: 'tool', callId: 'a', text: 'one' },
    { role: 'tool', callId: 'b', text: '' },
    { role: 'assistant', text: 'Done', toolCalls: [] },
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'And this?' },
        { type: 'image', mimeType: 'image/png', base64: 'aGk=' },
      ],
    },
  ],
  tools: [{ ...view, name: 'bash' }, view],
};

test('a plain request is system, user and sampling, and nothing it does not need', () => {
  expect(encodeChat(plainRequest, 'openai')).toEqual({
    model: 'tiny',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
    ],
    ...sampling,
  });
});

test('a conversation goes back exactly as it was, with images as data addresses', () => {
  expect(encodeChat(conversation, 'openai').messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Look' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'view', arguments: '{ "path":"x" }' } },
        { id: 'b', type: 'function', function: { name: 'view', arguments: 'not json' } },
      ],
    },
    { role: 'tool', tool_call_id: 'a', content: 'one' },
    { role: 'tool', tool_call_id: 'b', content: '' },
    { role: 'assistant', content: 'Done' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'And this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
      ],
    },
  ]);
});

test('several texts stay several, none is an empty text', () => {
  const text = (parts: readonly string[]) => ({
    role: 'user' as const,
    parts: parts.map((part) => ({ type: 'text' as const, text: part })),
  });
  const request = { ...plainRequest, messages: [text(['a', 'b']), text([])] };
  expect(encodeChat(request, 'openai').messages).toEqual([
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    { role: 'user', content: '' },
  ]);
});

test('only the Copilot dialect marks the system message, the last message and the last tool', () => {
  const mark = { copilot_cache_control: { type: 'ephemeral' } };
  const request = { ...plainRequest, tools: [{ ...view, name: 'bash' }, view] };
  const { messages, tools } = encodeChat(request, 'copilot');
  expect({ messages, tools }).toEqual({
    messages: [
      { role: 'system', content: 'Be brief.', ...mark },
      { role: 'user', content: 'Hello', ...mark },
    ],
    tools: [
      { ...encodedView, function: { ...encodedView.function, name: 'bash' } },
      { ...encodedView, ...mark },
    ],
  });
  expect(JSON.stringify(encodeChat(conversation, 'openai'))).not.toContain('copilot_cache_control');
});

test('a streamed request asks for usage; tool choice goes only where there are tools', () => {
  const streamed = { ...plainRequest, stream: true, toolChoice: 'none' as const, maxOutputTokens: 100 };
  const body = { model: 'tiny', ...sampling, max_tokens: 100 };
  const stream = { stream: true, stream_options: { include_usage: true } };
  const { messages: _, ...without } = encodeChat(streamed, 'openai');
  expect(without).toEqual({ ...body, ...stream });
  const { messages: __, ...withTool } = encodeChat({ ...streamed, tools: [view] }, 'openai');
  expect(withTool).toEqual({ ...body, ...stream, tools: [encodedView], tool_choice: 'none' });
});

test('with a reasoning effort, sampling is left to the model', () => {
  const request = { ...plainRequest, messages: [], reasoningEffort: 'high', maxOutputTokens: 9 };
  expect(encodeChat(request, 'copilot')).toMatchObject({
    temperature: 1,
    reasoning_effort: 'high',
    max_completion_tokens: 9,
  });
  expect(Object.keys(encodeChat(request, 'openai'))).toEqual([
    'model',
    'temperature',
    'reasoning_effort',
    'max_completion_tokens',
    'messages',
  ]);
});

test('a model known to refuse sampling gets none from us, except at the Copilot service', () => {
  const request = { ...plainRequest, model: 'gpt-5-mini', messages: [] };
  expect(Object.keys(encodeChat(request, 'openai'))).toEqual(['model', 'temperature', 'messages']);
  expect(encodeChat(request, 'copilot')).toMatchObject(sampling);
});

test('an id or a name that no service would take becomes one that all do, the same in call and result', () => {
  const callId = `call_${'9'.repeat(60)}`;
  const { messages } = encodeChat(
    {
      ...plainRequest,
      messages: [
        { role: 'assistant', text: '', toolCalls: [{ callId, name: 'repo.browse', argumentsText: '{}' }] },
        { role: 'tool', callId, text: 'x' },
      ],
    },
    'openai',
  );
  const id = `call_${'9'.repeat(26)}_aecf3636`;
  expect(messages.slice(1)).toEqual([
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'repo_browse', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'x' },
  ]);
});

test('what a service wants back goes back in its own fields, and to no other dialect', () => {
  const kept = [{ wire: 'copilot-chat', place: 0, block: { reasoning_text: 'Hm.', reasoning_opaque: 's' } }];
  const request: ModelRequest = {
    ...plainRequest,
    messages: [{ role: 'assistant', text: 'Yes', toolCalls: [], kept }],
  };
  const said = { role: 'assistant', content: 'Yes' };
  const mark = { copilot_cache_control: { type: 'ephemeral' } };
  expect(encodeChat(request, 'copilot').messages[1]).toEqual({
    ...said,
    reasoning_text: 'Hm.',
    reasoning_opaque: 's',
    ...mark,
  });
  expect(encodeChat(request, 'openai').messages[1]).toEqual(said);
});

test('a document is a file with a name', () => {
  const part = { type: 'document' as const, mimeType: 'application/pdf', base64: 'JVBERg==', name: 'a.pdf' };
  const { messages } = encodeChat({ ...plainRequest, messages: [{ role: 'user', parts: [part] }] }, 'openai');
  expect(messages[1]).toEqual({
    role: 'user',
    content: [
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
    ],
  });
});

test('a tool without a schema takes an empty object', () => {
  const request = { ...plainRequest, tools: [{ name: 'now', description: '', inputSchema: undefined }] };
  const parameters = { type: 'object', properties: {} };
  expect(encodeChat(request, 'openai').tools).toEqual([
    { type: 'function', function: { name: 'now', description: '', parameters } },
  ]);
});

test('what is sent is what the vendor types', () => {
  const { reasoning_effort: _, ...body } = encodeChat({ ...conversation, stream: true }, 'openai');
  const typed: ChatCompletionCreateParams = body;
  expect(typed.model).toBe('tiny');
});

test('a remark comes last, and what is kept ends before it', () => {
  const remark = { role: 'user', content: 'Save.' };
  for (const dialect of ['openai', 'copilot'] as const) {
    const plain = encodeChat(plainRequest, dialect).messages;
    expect(encodeChat({ ...plainRequest, remark: 'Save.' }, dialect).messages).toEqual([...plain, remark]);
  }
});
