import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

const pdf = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');
const blob = { type: 'blob', data: pdf, mimeType: 'application/pdf', displayName: 'plan.pdf' };

const typesOf = (events: readonly { type: string; data: unknown }[]) =>
  events.flatMap(({ type, data }) =>
    type === 'user.message'
      ? [(data as { supportedNativeDocumentMimeTypes?: unknown }).supportedNativeDocumentMimeTypes]
      : [],
  );

test('Claude reads PDFs as they are, sent along or lying in a file, and cites them if asked to', async () => {
  const path = join(runtime.workingDirectory, 'report.pdf');
  writeFileSync(path, Buffer.from(pdf, 'base64'));
  const model = runtime.script(say('a'));
  const session = await runtime.client.create({
    model: 'claude-sonnet-4-5',
    provider: { type: 'anthropic', baseUrl: model.baseUrl },
    enableCitations: true,
  });
  const events = await session.turn('Compare.', { attachments: [blob, { type: 'file', path }] });
  const source = { type: 'base64', media_type: 'application/pdf', data: pdf };
  const citations = { enabled: true };
  expect(model.requests[0]?.body.messages).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: expect.stringMatching(/Compare\.$/) },
        { type: 'document', source, title: 'plan.pdf', citations },
        { type: 'text', text: `Document at path ${path}` },
        { type: 'document', source, title: 'report.pdf', citations },
      ],
    },
  ]);
  expect(typesOf(events)).toEqual([['application/pdf']]);
});

test('the Responses API takes them too, and a model that cannot read one gets a note that it was there', async () => {
  const responses = runtime.script(say('a'));
  const chat = runtime.script(say('b'));
  const session = await runtime.client.create({
    model: 'gpt-4.1',
    provider: { baseUrl: responses.baseUrl, wireApi: 'responses' },
  });
  await session.turn('Read.', { attachments: [blob] });
  expect(JSON.stringify(responses.requests[0]?.body.input)).toContain(
    `{"type":"input_file","filename":"plan.pdf","file_data":"data:application/pdf;base64,${pdf}"}`,
  );
  await runtime.client.resume(session.sessionId, { model: 'llama3.3', provider: { baseUrl: chat.baseUrl } });
  const events = await session.turn('Again.', { attachments: [blob] });
  const sent = JSON.stringify(chat.requests[0]?.body.messages);
  expect(sent).toContain('[Document plan.pdf: this model cannot read it]');
  expect(sent).toContain('[15 bytes of application/pdf]');
  expect(sent).not.toContain(pdf);
  expect(typesOf(events)).toEqual([[]]);
});
