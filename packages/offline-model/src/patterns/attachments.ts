import type { Attachment } from '../conversation.js';
import { mentions } from '../mentions.js';
import { type Pattern, replyWith } from '../pattern.js';
import { argumentsOf, fitted } from '../value-type.js';

/** What came with the prompt. A file is only known by name and size: its content is read by a tool. */
export const attachments: readonly Pattern[] = [
  {
    example: 'What is in the attached file?',
    when: /\S/,
    reply(_, sentence, { attachments: given, tools, ask }) {
      if (given.length === 0 || mentions(sentence, tools).length > 0) return undefined;
      const text = sentence.text.toLowerCase();
      const isMeant = subject.test(text) || given.some(({ name }) => ask.includes(baseName(name)));
      if (!isMeant || /^\W*(?:create|write|edit|replace|run|execute|in)\b/.test(text)) return undefined;
      const view = tools.find(({ name }) => name === 'view');
      const files = given.filter(({ type, text: note }) => type === 'file' && !note.startsWith('error'));
      if (!view || files.length === 0 || !content.test(text))
        return replyWith(given.map(describe).join('\n\n'));
      const properties = argumentsOf(view.inputSchema);
      return {
        type: 'call',
        calls: files.map(({ name: path }) => ({ name: view.name, arguments: fitted(properties, { path }) })),
      };
    },
  },
];

const subject =
  /\b(?:attach(?:ed|ments?)|files?|folders?|director(?:y|ies)|selections?|selected|highlighted|images?|pictures?|photos?|screenshots?|documents?|this|these|it|them|issues?|pull requests?)\b/;
const content =
  /\b(?:in|inside|contents?|contains?|says?|read|show|view|summari[sz]e|explain|describe|about|tell)\b/;

const describe = (attachment: Attachment): string => descriptions[attachment.type](attachment);

const descriptions: Readonly<Record<Attachment['type'], (attachment: Attachment) => string>> = {
  file: ({ name, text }) => `Attached file: ${name} (${text})`,
  text: ({ name, text }) => `${name} says:\n${text}`,
  selection: ({ name, text }) => `Selected in ${name}:\n${text}`,
  image: ({ name }) => `There is an image, ${name}, but I cannot see images.`,
  reference: ({ text }) => `Reference: ${text}`,
};

function baseName(path: string): string {
  return path.split(/[\\/]/).at(-1) || path;
}
