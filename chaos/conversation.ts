import type { Rule } from '@groundcrew/testkit';

/** What is said in a session under test; the model's part follows from the history alone. */
export interface Line {
  readonly name: 'work' | 'also' | 'next';
  readonly prompt: string;
  /** The model's last word on it. */
  readonly end: string;
}

/** A call that the runtime runs itself; whether it did can be counted in a file of the working directory. */
export const shellCall = 'call-4';
export const effectsFile = 'effects.txt';

/** Two rounds of tools: two of the client, one of which asks for leave; then one with a long result beside a shell's. */
export const work: Line = { name: 'work', prompt: 'Do the work', end: 'The work is done.' };
/** Sent while the work goes on. */
export const also: Line = { name: 'also', prompt: 'And this, too', end: 'This is done, too.' };
/** Sent when all is over, to see that the session is alive. */
export const next: Line = { name: 'next', prompt: 'What now?', end: 'Nothing more.' };

/** The client's tools; only the second one asks for leave. */
export const tools = [
  { name: 'count', description: 'Counts', parameters: { type: 'object' }, skipPermission: true },
  { name: 'pay', description: 'Pays', parameters: { type: 'object' } },
] as const;

/** The model: what it says depends only on the last prompt and on how often it has spoken since. */
export const rule: Rule = (messages) => {
  const last = messages.findLastIndex((message) => message.role === 'user');
  const said = messages.slice(last).filter((message) => message.role === 'assistant').length;
  const text = JSON.stringify(messages[last]?.content);
  const line = [next, also, work].find(({ prompt }) => text.includes(prompt));
  if (line !== work || said > 1) return { chunks: (line?.end ?? 'What?').split(/(?<= )/) };
  if (said === 1)
    return {
      chunks: ['More. '],
      calls: [
        { id: 'call-3', name: 'count', arguments: { n: 3 } },
        {
          id: shellCall,
          name: 'bash',
          arguments: { command: `echo ran >> ${effectsFile}`, description: 'Runs' },
        },
      ],
    };
  return {
    calls: [
      { id: 'call-1', name: 'count', arguments: { n: 1 } },
      { id: 'call-2', name: 'pay', arguments: { euros: 2 } },
    ],
  };
};

/** What a tool of the client answers: the same for the same call, and once longer than the store keeps in line. */
export function resultOf(toolCallId: string): string {
  return toolCallId === 'call-3' ? `${toolCallId} ${'long '.repeat(20_000)}` : `${toolCallId} ok`;
}
