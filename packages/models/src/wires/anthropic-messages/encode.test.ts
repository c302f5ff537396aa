import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages';
import { expect, test } from 'vitest';
import { plainRequest } from '../../../test/local-server.js';
import type { ChatMessage, KeptBlock, ModelRequest } from '../../model.js';
import { encodeMessages } from './encode.js';

/** As the vendor's own types know it: what does not fit does not compile. */
const encode = (request: ModelRequest): MessageCreateParams => encodeMessages(request);

const mark = { type: 'ephemeral' };
const view = { name: 'view', description: 'Shows.', inputSchema: { type: 'object', required: ['path'] } };
const call = (callId: string, argumentsText = '{"path":"/a"}') => ({ callId, name: 'view', argumentsText });
const thought: KeptBlock = {
  wire: 'anthropic-messages',
  place: 0,
  block: { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
};
const user = (text: string): ChatMessage => ({ role: 'user', parts: [{ type: 'text', text }] });
const said = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] });

test('a plain request is streamed, and marked where it stays and where it grows', () => {
  expect(encode(plainRequest)).toEqual({
    model: 'tiny',
    max_tokens: 32_000,
    stream: true,
    cache_control: mark,
    system: [{ type: 'text', text: 'Be brief.', cache_control: mark }],
    messages: [said('Hello')],
  });
});

test('who spoke last goes on in the same message; blank ones say so or are left out', () => {
  const { messages } = encode({
    ...plainRequest,
    tools: [view],
    messages: [
      user(' '),
      { role: 'assistant', text: '\n', toolCalls: [] },
      user('Look'),
      { role: 'assistant', text: '', toolCalls: [call('a'), call('b|1', '[1]')] },
      { role: 'tool', callId: 'a', text: 'one' },
      { role: 'tool', callId: 'b|1', text: '' },
      { role: 'user', parts: [{ type: 'image', mimeType: 'image/png', base64: 'aGk=' }] },
      user('Also'),
    ],
  });
  const odd = expect.stringMatching(/^b_1_[0-9a-f]{8}$/);
  expect(messages).toEqual([
    { role: 'user', content: [...said('(no text)').content, ...said('Look').content] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'a', name: 'view', input: { path: '/a' } },
        { type: 'tool_use', id: odd, name: 'view', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'one' },
        { type: 'tool_result', tool_use_id: odd },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } },
        { type: 'text', text: 'Also' },
      ],
    },
  ]);
});

test('documents are what the service can read, or say what they are', () => {
  const document = (mimeType: string, base64: string, name?: string) =>
    ({ type: 'document', mimeType, base64, ...(name !== undefined && { name }) }) as const;
  const parts = [
    document('application/pdf', 'JVBERg==', 'a.pdf'),
    document('text/csv', 'YSxi'),
    document('application/zip', 'UEs='),
    { type: 'image', mimeType: 'image/svg+xml', base64: 'aGk=' } as const,
  ];
  expect(encode({ ...plainRequest, messages: [{ role: 'user', parts }] }).messages).toEqual([
    {
      role: 'user',
      content: [
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
          title: 'a.pdf',
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
        { type: 'text', text: '[application/zip: this model cannot read it]' },
        { type: 'text', text: '[image/svg+xml: this model cannot read it]' },
      ],
    },
  ]);
});

test('tools have a schema of an object; a conversation with calls has tools although none is offered', () => {
  const { tools, tool_choice } = encode({ ...plainRequest, tools: [view], toolChoice: 'none' });
  expect({ tools, tool_choice }).toEqual({
    tools: [
      {
        name: 'view',
        description: 'Shows.',
        input_schema: { type: 'object', required: ['path'], properties: {} },
      },
    ],
    tool_choice: { type: 'none' },
  });
  const bare = encode({
    ...plainRequest,
    messages: [
      user('Look'),
      { role: 'assistant', text: '', toolCalls: [call('a')] },
      { role: 'tool', callId: 'a', text: 'x' },
    ],
  });
  expect({ tools: bare.tools, tool_choice: bare.tool_choice }).toEqual({
    tools: [
      {
        name: 'view',
        description: 'No longer available.',
        input_schema: { type: 'object', properties: {} },
      },
    ],
    tool_choice: { type: 'none' },
  });
});

const round = (kept?: readonly KeptBlock[]): readonly ChatMessage[] => [
  user('Look'),
  { role: 'assistant', text: 'I look.', toolCalls: [call('a')], ...(kept && { kept }) },
  { role: 'tool', callId: 'a', text: 'x' },
];

const done: ChatMessage = { role: 'assistant', text: 'Done.', toolCalls: [] };

function thinkingOf(request: Partial<ModelRequest>) {
  const { thinking, output_config, messages } = encode({ ...plainRequest, tools: [view], ...request });
  const back = JSON.stringify(messages).includes('"thinking":"Hm."');
  return { thinking, effort: output_config?.effort, back };
}

test('newer models get an effort, and always get their thoughts back', () => {
  const model = 'claude-opus-4-7';
  const adaptive = { type: 'adaptive', display: 'summarized' };
  expect(thinkingOf({ model, reasoningEffort: 'xhigh', messages: round([thought]) })).toEqual({
    thinking: adaptive,
    effort: 'xhigh',
    back: true,
  });
  expect(thinkingOf({ model, messages: round([thought]) })).toEqual({ back: true });
  expect(thinkingOf({ model, reasoningEffort: 'odd', messages: round() })).toEqual({ back: false });
});

test('older models are given a budget that leaves room for the answer', () => {
  const model = 'claude-sonnet-4-5';
  const budget = (reasoningEffort: string, maxOutputTokens?: number) =>
    thinkingOf({ model, reasoningEffort, ...(maxOutputTokens !== undefined && { maxOutputTokens }) })
      .thinking;
  expect(budget('low')).toEqual({ type: 'enabled', budget_tokens: 4_000 });
  expect(budget('high')).toEqual({ type: 'enabled', budget_tokens: 16_000 });
  expect(budget('high', 4_000)).toEqual({ type: 'enabled', budget_tokens: 3_000 });
  expect(budget('high', 1_000)).toBeUndefined();
});

test('an older model gets thoughts back while it is to think, and thinks only where it began to', () => {
  const model = 'claude-sonnet-4-5';
  const enabled = { type: 'enabled', budget_tokens: 8_000 };
  const ask = (messages: readonly ChatMessage[]) =>
    thinkingOf({ model, reasoningEffort: 'medium', messages });
  expect(ask(round([thought]))).toEqual({ thinking: enabled, back: true });
  expect(ask([...round(), done, ...round([thought])])).toEqual({ thinking: enabled, back: true });
  expect(ask(round())).toEqual({ back: false });
  expect(ask([...round([thought]), done, ...round()])).toEqual({ back: false });
  expect(ask([...round(), done, user('Next')])).toEqual({ thinking: enabled, back: false });
  expect(thinkingOf({ model, messages: round([thought]) })).toEqual({ back: false });
});

test('a remark comes last, and what is kept ends before it', () => {
  const ends = (messages: readonly ChatMessage[]) => {
    const { cache_control, messages: encoded } = encode({ ...plainRequest, messages, remark: 'Save.' });
    return { cache_control, last: encoded.at(-1) };
  };
  expect(ends(plainRequest.messages)).toEqual({
    cache_control: undefined,
    last: {
      role: 'user',
      content: [
        { type: 'text', text: 'Hello', cache_control: mark },
        { type: 'text', text: 'Save.' },
      ],
    },
  });
  expect(ends([...plainRequest.messages, { role: 'assistant', text: 'Hm', toolCalls: [] }])).toEqual({
    cache_control: undefined,
    last: said('Save.'),
  });
});
