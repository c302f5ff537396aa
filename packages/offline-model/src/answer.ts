import { type Conversation, type OfflineRequest, readConversation } from './conversation.js';
import { fittingValue } from './fitting-value.js';
import { type MaskedText, mask } from './masked-text.js';
import type { PlannedCall, Reply } from './pattern.js';
import { table } from './pattern-table.js';
import { asksForSummary, summaryOf } from './patterns/memory.js';
import { selfDescription } from './patterns/small-talk.js';
import { isSearch } from './patterns/tools.js';
import { inStyle, styleOf } from './reply-style.js';
import { isFailure, report } from './report.js';

/** What the model says or does next. Each step of a prompt is done once, so every conversation comes to an end. */
export function answer(request: OfflineRequest): Reply {
  const conversation = readConversation(request);
  if (asksForSummary(conversation.ask)) return { type: 'say', text: summaryOf(conversation) };
  const steps = stepsOf(conversation);
  const rounds = steps.filter((step) => step.calls.length > 0);
  const next = rounds[conversation.rounds - searchesOf(conversation, rounds)];
  if (next) return { type: 'call', calls: next.calls };
  if (request.output) return { type: 'say', text: fittingText(request.output.schema, conversation) };
  return { type: 'say', text: inStyle(finalText(conversation, steps), styleOf(conversation.system)) };
}

/** Makes a value that fits the schema from the prompt and the results of tools. */
function fittingText(schema: Readonly<Record<string, unknown>>, { ask, results }: Conversation): string {
  const said = [ask, ...results.map(({ text }) => text)].join('\n');
  return JSON.stringify(fittingValue(schema, said));
}

/** Searches for a tool that the prompt names are no steps of it: once the tool is found, the step is done with it. */
function searchesOf({ results }: Conversation, rounds: readonly Step[]): number {
  const named = rounds.filter(({ calls }) => calls.every(isSearch)).length;
  return Math.max(0, results.filter(isSearch).length - named);
}

interface Step {
  readonly calls: readonly PlannedCall[];
  readonly texts: readonly string[];
}

/** A prompt is steps, joined by "then"; a step is sentences; what they call, they call at once. */
function stepsOf(conversation: Conversation): readonly Step[] {
  const masked = mask(conversation.ask);
  const answers: string[] = [];
  return masked.text.split(between, mostSentences).map((text) => {
    const sentences = text.split(sentenceEnd).filter((sentence) => sentence.length <= longestSentence);
    const replies = sentences.slice(0, mostSentences).flatMap((sentence) => {
      const known = { ...conversation, answers: [...conversation.answers, ...answers] };
      const reply = replyTo(
        { ...masked, text: sentence.replace(/^\s*(?:\d+[.)]|[-*])\s+/, '').trim() },
        known,
      );
      if (reply?.type === 'say') answers.push(reply.text);
      return reply ?? [];
    });
    return {
      calls: replies.flatMap((reply) => (reply.type === 'call' ? reply.calls : [])),
      texts: replies.flatMap((reply) => (reply.type === 'say' ? [reply.text] : [])),
    };
  });
}

/** Whatever is longer is no instruction; quotations do not count. */
const longestSentence = 2000;
const mostSentences = 50;
const between = /[,;.]?\s+(?:and\s+)?(?:then|afterwards|after that|finally)[,:]?\s+/i;
const sentenceEnd = /(?<=[.?!])\s+(?=[\p{Lu}\d\uE000-\uF8FF])|\n+/u;

function replyTo(sentence: MaskedText, conversation: Conversation): Reply | undefined {
  for (const { when, reply } of table) {
    const match = when.exec(sentence.text);
    const found = match && reply(match, sentence, conversation);
    if (found) return found;
  }
  return undefined;
}

function finalText(conversation: Conversation, steps: readonly Step[]): string {
  const { results, notices } = conversation;
  if (results.length === 0) {
    const texts = steps.flatMap((step) => step.texts);
    if (texts.length > 0) return texts.join('\n');
    return notices.length > 0 ? `Noted: ${notices.join('\n')}` : selfDescription;
  }
  const lastCall = steps.findLastIndex((step) => step.calls.length > 0);
  const closing = steps.slice(lastCall + 1).flatMap((step) => step.texts);
  const reported = results.length > 1 ? results.filter((result) => !isSearch(result)) : results;
  const shown = closing.length > 0 ? reported.filter(isFailure) : reported;
  return [...(shown.length > 0 ? [report(shown)] : []), ...closing].join('\n');
}
