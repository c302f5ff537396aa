import { charactersIn, type JsonObject } from '@groundcrew/protocol';
import { Refusal } from './failure.js';

/** Throws when a prompt is longer than any model could read: to store and to send it would hold up all other clients. */
export function requirePromptSize(text: string, attachments: readonly unknown[] = []): void {
  if (text.length > longestPrompt) {
    const size = `The prompt has ${text.length} characters; at most ${longestPrompt} are accepted.`;
    throw new Refusal(`${size} Attach a file, and the agent reads what it needs of it.`);
  }
  if (attachments.length > mostAttachments)
    throw new Refusal(
      `The prompt has ${attachments.length} attachments; at most ${mostAttachments} are accepted.`,
    );
  const attached = charactersIn(attachments);
  if (attached > mostAttached) {
    const size = `The attachments have ${attached} characters; at most ${mostAttached} are accepted.`;
    throw new Refusal(`${size} Attach files by their paths instead.`);
  }
}

/** What a tool of a client answered, or, when that is too long to be kept, that it was. */
export function boundedResult(result: string | JsonObject): string | JsonObject {
  const size = charactersIn(result);
  const most = typeof result === 'string' ? longestText : mostAttached;
  if (size <= most && textLength(result) <= longestText) return result;
  const error = `The tool's result has ${size} characters, more than are accepted (${longestText} of text, ${mostAttached} in all). It was left out.`;
  return { textResultForLlm: `${error} Ask the tool for less at once.`, resultType: 'failure', error };
}

const mostAttachments = 1000;
const longestPrompt = 2 * 1024 * 1024;
const longestText = 4 * 1024 * 1024;
/** Images and documents too. */
const mostAttached = 16 * 1024 * 1024;

function textLength(result: string | JsonObject): number {
  if (typeof result === 'string') return result.length;
  return typeof result.textResultForLlm === 'string' ? result.textResultForLlm.length : charactersIn(result);
}
