import { SseReader, type Wire, type WireName, wires } from '@groundcrew/models';

/** How many pieces of text a second each wire reads, from bytes to events; the best of several runs. */
const pieces = 100_000;
const piecesPerRead = 50;
const runs = 7;

const answers: Readonly<Partial<Record<WireName, readonly [begin: object[], piece: object, end: object[]]>>> =
  {
    'openai-chat': [
      [],
      {
        id: 'chatcmpl-CQz4mX0b1dV7',
        object: 'chat.completion.chunk',
        created: 1_760_000_000,
        model: 'gpt-4.1-2025-04-14',
        service_tier: 'default',
        system_fingerprint: 'fp_1a2b3c4d5e',
        choices: [{ index: 0, delta: { content: ' word' }, logprobs: null, finish_reason: null }],
        usage: null,
        obfuscation: 'q8Zr1',
      },
      [{ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }],
    ],
    'openai-responses': [
      [],
      {
        type: 'response.output_text.delta',
        sequence_number: 17,
        item_id: 'msg_68e5a1f0c2b48193',
        output_index: 0,
        content_index: 0,
        delta: ' word',
        logprobs: [],
        obfuscation: 'q8Zr1',
      },
      [{ type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } }],
    ],
    'anthropic-messages': [
      [{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }],
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' word' } },
      [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }],
    ],
  };

for (const [name, answer] of Object.entries(answers)) {
  const wire = await wires[name as WireName].load(); // the table has no other names
  const reads = readsOf(answer);
  const seconds: number[] = [];
  for (let run = 0; run < runs; run++) seconds.push(secondsToRead(wire, reads));
  const perSecond = Math.round(pieces / Math.min(...seconds) / 1000);
  console.log(`${name.padEnd(20)} ${perSecond} 000 pieces/s`);
}

function readsOf([begin, piece, end]: readonly [object[], object, object[]]): readonly Uint8Array[] {
  const frame = (data: object) =>
    `${'type' in data ? `event: ${String(data.type)}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
  const read = Buffer.from(frame(piece).repeat(piecesPerRead));
  return [
    Buffer.from(begin.map(frame).join('')),
    ...Array.from({ length: pieces / piecesPerRead }, () => read),
    Buffer.from(`${end.map(frame).join('')}data: [DONE]\n\n`),
  ];
}

function secondsToRead(wire: Wire, reads: readonly Uint8Array[]): number {
  const began = performance.now();
  const reader = new SseReader();
  const decoder = wire.decode();
  let decoded = 0;
  for (const read of reads) decoded += decoder.take(reader.push(read)).length;
  if (decoded < pieces) throw new Error(`only ${decoded} events were decoded`);
  return (performance.now() - began) / 1000;
}
