import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { expect, test } from 'vitest';
import { plainRequest } from '../../../test/local-server.js';
import type { ModelRequest } from '../../model.js';
import { encodeResponses } from './encode.js';

/** As the vendor's own types know it: what does not fit does not compile. */
const encode = (request: ModelRequest): ResponseCreateParams => encodeResponses(request);

const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
const wire = 'openai-responses';

test('a plain request is stored nowhere, and asks for thoughts under seal', () => {
  expect(encode(plainRequest)).toEqual({
    model: 'tiny',
    instructions: 'Be brief.',
    store: false,
    include: ['reasoning.encrypted_content'],
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
  });
});

test('everything that can be asked for is', () => {
  const request: ModelRequest = {
    ...plainRequest,
    model: 'gpt-5',
    stream: true,
    toolChoice: 'none',
    reasoningEffort: 'high',
    maxOutputTokens: 5,
    tools: [{ name: 'view', description: 'Shows.', inputSchema: { type: 'object', anyOf: [] } }],
    origin: {
      sessionId: 's1',
      interactionId: 'i1',
      initiator: 'user',
      interactionType: 'conversation-user',
    },
  };
  const { input: _, ...rest } = encode(request);
  expect(rest).toEqual({
    model: 'gpt-5',
    instructions: 'Be brief.',
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
    max_output_tokens: 16,
    prompt_cache_key: 's1',
    stream: true,
    tools: [
      {
        type: 'function',
        name: 'view',
        description: 'Shows.',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    ],
    tool_choice: 'none',
    parallel_tool_calls: true,
  });
});

test('a model that is known not to think hears nothing about it', () => {
  expect(Object.keys(encode({ ...plainRequest, model: 'gpt-4.1-mini' }))).toEqual([
    'model',
    'instructions',
    'store',
    'input',
  ]);
});

test('each thought stands before what came of it; one that came to nothing is left out', () => {
  const at = (place: number, id: string) => ({ wire, place, block: { ...sealed, id } });
  const { input } = encode({
    ...plainRequest,
    messages: [
      {
        role: 'assistant',
        text: 'I look.',
        toolCalls: [
          { callId: 'a', name: 'view', argumentsText: '{ "x":1 }' },
          { callId: 'b', name: 'view', argumentsText: '{}' },
        ],
        kept: [
          at(0, 'rs_0'),
          { wire, place: 1, block: { type: 'message', phase: 'commentary' } },
          at(2, 'rs_2'),
          at(3, 'rs_3'),
          {
            wire: 'anthropic-messages',
            place: 0,
            block: { type: 'thinking', thinking: 'x', signature: 'y' },
          },
        ],
      },
      { role: 'tool', callId: 'a', text: 'one' },
      { role: 'tool', callId: 'b', text: '' },
    ],
  });
  expect(input).toEqual([
    { ...sealed, id: 'rs_0' },
    { type: 'message', role: 'assistant', content: 'I look.', phase: 'commentary' },
    { type: 'function_call', call_id: 'a', name: 'view', arguments: '{ "x":1 }' },
    { ...sealed, id: 'rs_2' },
    { type: 'function_call', call_id: 'b', name: 'view', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: 'one' },
    { type: 'function_call_output', call_id: 'b', output: '' },
  ]);
});

test('images and documents are addresses of their data', () => {
  const { input } = encode({
    ...plainRequest,
    messages: [
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Look' },
          { type: 'image', mimeType: 'image/png', base64: 'aGk=' },
          { type: 'document', mimeType: 'application/pdf', base64: 'JVBERg==', name: 'a.pdf' },
        ],
      },
    ],
  });
  expect(input).toEqual([
    {
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'Look' },
        { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
        { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
      ],
    },
  ]);
});

test('a remark comes last', () => {
  const content = [{ type: 'input_text', text: 'Save.' }];
  const { input } = encode({ ...plainRequest, remark: 'Save.' });
  expect(input).toEqual([...(encode(plainRequest).input ?? []), { type: 'message', role: 'user', content }]);
});
