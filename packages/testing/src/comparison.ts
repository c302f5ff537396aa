import { isDeepStrictEqual } from 'node:util';
import { writeMessage } from './cassette-text.js';
import type { Message } from './conversation.js';
import { diffLines } from './diff.js';
import { type KeptQuestion, type ModelExchange, withPlainIds } from './exchange.js';

/** What a replay may leave out of the comparison. */
export type Ignorable = 'model' | 'system' | 'tools' | 'settings';

/** A question as it is compared. */
export interface Asked {
  readonly path: string;
  readonly question: KeptQuestion;
}

/** Whether the exchange is the answer to this question. */
export function isAnswerTo(
  { path, question }: Pick<ModelExchange, 'path' | 'question'>,
  asked: Asked,
  ignore: readonly Ignorable[],
): boolean {
  if (path !== asked.path || question.messages.length !== asked.question.messages.length) return false;
  return isDeepStrictEqual(comparable(question, ignore), comparable(asked.question, ignore));
}

/** How many messages from the first on are the same. */
export function agreement(
  exchange: Pick<ModelExchange, 'question'>,
  asked: Asked,
  ignore: readonly Ignorable[],
): number {
  const recorded = comparable(exchange.question, ignore).messages;
  const { messages } = comparable(asked.question, ignore);
  const differs = messages.findIndex((message, index) => !isDeepStrictEqual(message, recorded[index]));
  return differs < 0 ? messages.length : differs;
}

/** Where the question leaves what was recorded: the first message that differs, with a diff, then all else. */
export function describeDifference(
  exchange: Pick<ModelExchange, 'path' | 'question'>,
  asked: Asked,
  ignore: readonly Ignorable[],
): string {
  const recorded = comparable(exchange.question, ignore);
  const now = comparable(asked.question, ignore);
  const others = [
    ...difference('path', exchange.path, asked.path),
    ...difference('model', recorded.model, now.model),
    ...difference('tools', recorded.tools?.join('\n'), now.tools?.join('\n')),
    ...difference('settings', recorded.settings, now.settings),
  ];
  const first = messageDifference(recorded.messages, now.messages);
  return [...first, ...(first.length === 0 ? ['All messages are the same.'] : []), ...others].join('\n');
}

function comparable(question: KeptQuestion, ignore: readonly Ignorable[]) {
  const messages = withPlainIds(question.messages).map((message): Message => {
    if (message.role === 'system' && ignore.includes('system')) return { ...message, text: '' };
    return message;
  });
  return {
    messages,
    model: ignore.includes('model') ? undefined : question.model,
    tools: ignore.includes('tools') ? undefined : question.tools,
    settings: ignore.includes('settings') ? undefined : question.settings,
  };
}

function messageDifference(recorded: readonly Message[], now: readonly Message[]): readonly string[] {
  const longest = Math.max(recorded.length, now.length);
  for (let index = 0; index < longest; index++) {
    const [before, after] = [recorded[index], now[index]];
    if (isDeepStrictEqual(before, after)) continue;
    const place = `Message ${index + 1} of ${now.length}`;
    if (!after)
      return [
        `${place} is missing: the recorded request goes on with`,
        ...diffLines(shown(before), '').slice(0, 20),
      ];
    const side = before ? speaker(after) : `${speaker(after)}, which was not there when it was recorded`;
    return [`${place} (${side}) differs first:`, ...diffLines(shown(before), shown(after))];
  }
  return [];
}

function speaker({ role }: Message): string {
  return role === 'tool' ? 'tool result' : role;
}

/** Plain texts as they are; what is more than a text with its parts named. */
function shown(message: Message | undefined): string {
  if (!message) return '';
  const isPlain = message.role !== 'assistant' || message.calls.length === 0;
  if (isPlain) return message.text;
  return JSON.stringify(writeMessage(message), undefined, 2);
}

function difference(name: string, before: unknown, after: unknown): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, undefined, 2));
  return [
    `The ${name} differ${name === 'tools' || name === 'settings' ? '' : 's'}:`,
    ...diffLines(text(before) ?? '', text(after) ?? ''),
  ];
}
