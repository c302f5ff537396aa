import { describe, expect, test } from 'vitest';
import { chatFault } from './strict-chat.js';
import { messagesFault } from './strict-messages.js';
import { responsesFault } from './strict-responses.js';
import { sealOf } from './strict-shape.js';

const user = (text = 'Hi') => ({ role: 'user', content: [{ type: 'text', text }] });
const asked = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] };

describe('a strict service of chat completions', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'view', arguments: '{}' } });
  const calling = (...ids: readonly string[]) => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map(call),
  });
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '' });
  const fault = (messages: readonly unknown[], more: object = {}) =>
    chatFault({ model: 'm', messages, ...more });

  test('takes a sound conversation', () => {
    expect(fault([user(), calling('a', 'b'), result('b'), result('a')])).toBeUndefined();
  });

  test.each([
    ['an unknown field', [user()], { snippy: {} }],
    ['an unknown field of a message', [{ ...user(), name: 'x' }], {}],
    ['a call without a result', [user(), calling('a'), user()], {}],
    ['a result without a call', [user(), result('a')], {}],
    ['an id used twice', [user(), calling('a'), result('a'), calling('a'), result('a')], {}],
    ['an id too long', [user(), calling('a'.repeat(41)), result('a'.repeat(41))], {}],
    ['a system message that is not first', [user(), { role: 'system', content: 'x' }], {}],
    ['a tool choice without tools', [user()], { tool_choice: 'none' }],
    ['no messages', [], {}],
  ])('refuses %s', (_what, messages, more) => {
    expect(fault(messages, more)).toEqual(expect.any(String));
  });
});

describe('a strict service of responses', () => {
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'view', arguments: '{}' });
  const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: '' });
  const thought = (id: string, seal = sealOf(`about ${id}`)) => ({
    type: 'reasoning',
    id,
    summary: [{ type: 'summary_text', text: `about ${id}` }],
    encrypted_content: seal,
  });
  const fault = (input: readonly unknown[], more: object = {}) =>
    responsesFault({ model: 'm', store: false, input, ...more });

  test('takes a sound conversation', () => {
    expect(
      fault([asked, thought('r'), call('a'), thought('s'), call('b'), output('a'), output('b')]),
    ).toBeUndefined();
  });

  test.each([
    ['an unknown field', [asked], { messages: [] }],
    ['storing', [asked], { store: true }],
    ['a call without an output', [asked, call('a'), asked], {}],
    ['a call without an output at the end', [asked, call('a')], {}],
    ['an output without a call', [asked, output('a')], {}],
    ['an output after something else', [asked, call('a'), asked, output('a')], {}],
    ['an id used twice', [asked, call('a'), output('a'), call('a'), output('a')], {}],
    ['a thought without what came of it', [asked, thought('r'), asked], {}],
    ['a thought with a broken seal', [asked, thought('r', 'x'), call('a'), output('a')], {}],
    ['the same thought twice', [asked, thought('r'), thought('r'), call('a'), output('a')], {}],
    ['an answer without text', [asked, { type: 'message', role: 'assistant', content: '' }], {}],
    ['too few tokens', [asked], { max_output_tokens: 1 }],
  ])('refuses %s', (_what, input, more) => {
    expect(fault(input, more)).toEqual(expect.any(String));
  });
});

describe('a strict service of messages', () => {
  const use = (id: string) => ({ type: 'tool_use', id, name: 'view', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id });
  const thought = (thinking = 'Hm.', signature = sealOf(thinking)) => ({
    type: 'thinking',
    thinking,
    signature,
  });
  const says = (...content: readonly unknown[]) => ({ role: 'assistant', content });
  const accepts = (...content: readonly unknown[]) => ({ role: 'user', content });
  const text = { type: 'text', text: 'x' };
  const tools = [{ name: 'view', description: '', input_schema: { type: 'object', properties: {} } }];
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  const fault = (messages: readonly unknown[], more: object = {}) =>
    messagesFault({ model: 'm', max_tokens: 2000, messages, tools, ...more });

  test('takes a sound conversation', () => {
    const messages = [
      user(),
      says(thought(), text, use('a'), use('b')),
      accepts(result('b'), result('a'), text),
    ];
    expect(fault(messages, { thinking })).toBeUndefined();
  });

  test.each([
    ['an unknown field', [user()], { input: [] }],
    ['two of the same in a row', [user(), user()], {}],
    ['an answer first', [says(text), user()], {}],
    ['an answer last', [user(), says(text)], {}],
    ['blank text', [user(' ')], {}],
    ['an empty message', [accepts()], {}],
    ['a call without a result', [user(), says(use('a')), user()], {}],
    ['a result without a call', [user(), says(text), accepts(result('a'))], {}],
    ['a result after something else', [user(), says(use('a')), accepts(text, result('a'))], {}],
    [
      'an id used twice',
      [user(), says(use('a')), accepts(result('a')), says(use('a')), accepts(result('a'))],
      {},
    ],
    ['an id of odd characters', [user(), says(use('a.b')), accepts(result('a.b'))], {}],
    ['calls without tools', [user(), says(use('a')), accepts(result('a'))], { tools: undefined }],
    ['a forged thought', [user(), says(thought('Hm.', 'x'), text), user()], {}],
    ['a thought last', [user(), says(text, thought()), user()], {}],
    ['thinking that begins in the middle', [user(), says(use('a')), accepts(result('a'))], { thinking }],
    ['a budget without room', [user()], { thinking: { ...thinking, budget_tokens: 2000 } }],
  ])('refuses %s', (_what, messages, more) => {
    expect(fault(messages, more)).toEqual(expect.any(String));
  });
});
