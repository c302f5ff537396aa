import type { ChatMessage, ModelRequest, Part, ToolSpec } from '@groundcrew/models';

/** What of a request the offline model goes by. */
export type OfflineRequest = Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'toolChoice' | 'output'>;

export interface Attachment {
  readonly type: 'file' | 'text' | 'selection' | 'image' | 'reference';
  readonly name: string;
  /** Its content, or what is known of it. */
  readonly text: string;
}

export interface ToolResult {
  readonly name: string;
  readonly text: string;
}

/** What a request asks for, taken out of its wrapping. */
export interface Conversation {
  /** The latest prompt, without what was put around it. */
  readonly ask: string;
  readonly earlierPrompts: readonly string[];
  /** What was answered so far, oldest first. */
  readonly answers: readonly string[];
  /** The system message, and reminders that came with the prompt. */
  readonly system: string;
  readonly now: string | undefined;
  readonly attachments: readonly Attachment[];
  readonly notices: readonly string[];
  readonly tools: readonly ToolSpec[];
  /** Results of the calls made for the latest prompt, and in how many rounds they were made. */
  readonly results: readonly ToolResult[];
  readonly rounds: number;
}

/** Reads a request; whatever is before the latest prompt is memory. */
export function readConversation({ messages, system, tools, toolChoice }: OfflineRequest): Conversation {
  const isPrompt = (message: ChatMessage, index: number): boolean =>
    message.role === 'user' && !(messages[index - 1]?.role === 'tool' && isContext(message.parts));
  const start = messages.findLastIndex(isPrompt);
  const prompts = messages
    .filter(isPrompt)
    .flatMap((message) => (message.role === 'user' ? [readPrompt(message.parts)] : []));
  const latest = prompts.at(-1);
  const turn = messages.slice(start + 1);
  const names = new Map(
    turn
      .flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
      .map(({ callId, name }) => [callId, name]),
  );
  return {
    ask: latest?.ask ?? '',
    earlierPrompts: prompts
      .slice(0, -1)
      .flatMap(({ ask, summarized }) => (summarized.length > 0 ? summarized : [ask])),
    answers: messages.flatMap((message, index) => {
      if (message.role === 'assistant') return message.text === '' ? [] : [message.text];
      return isPrompt(message, index) && message.role === 'user' ? summaryOf(textOf(message.parts)) : [];
    }),
    system: [system, ...(latest?.blocks('system_reminder') ?? [])].join('\n'),
    now: latest?.blocks('current_datetime').at(-1),
    attachments: latest?.attachments ?? [],
    notices: latest?.blocks('system_notification') ?? [],
    tools: toolChoice === 'none' ? [] : tools,
    results: turn.flatMap((message) =>
      message.role === 'tool' ? [{ name: names.get(message.callId) ?? 'tool', text: message.text }] : [],
    ),
    rounds: turn.filter((message) => message.role === 'assistant' && message.toolCalls.length > 0).length,
  };
}

interface Prompt {
  readonly ask: string;
  readonly attachments: readonly Attachment[];
  /** The prompts a summary stands for. */
  readonly summarized: readonly string[];
  blocks(tag: string): readonly string[];
}

const wrapping =
  /<(current_datetime|tagged_files|github_references|ide_selection|system_reminder|reminder|agent_instructions|tools_changed_notice|system_notification|attachment)\b([^>]*)>\n?([\s\S]*?)\n?<\/\1>/g;

function readPrompt(parts: readonly Part[]): Prompt {
  const text = textOf(parts);
  const found = [...text.matchAll(wrapping)].map(([, tag = '', marks = '', body = '']) => ({
    tag,
    marks,
    body,
  }));
  const blocks = (tag: string): readonly string[] =>
    found.filter((block) => block.tag === tag).map(({ body }) => body.trim());
  const lines = (tag: string): readonly string[] => blocks(tag).flatMap((body) => body.split('\n'));
  const files = lines('tagged_files').map((line): Attachment => {
    const [, name = line, note = ''] = /^\* (.*) \((.*)\)$/.exec(line) ?? [];
    return { type: 'file', name, text: note };
  });
  const texts = found
    .filter(({ tag }) => tag === 'attachment')
    .map(({ marks, body }): Attachment => {
      return { type: 'text', name: /(?:name|title)="([^"]*)"/.exec(marks)?.[1] ?? 'attachment', text: body };
    });
  const selections = blocks('ide_selection').map((body): Attachment => {
    const [, name = 'selection', content = body] = /^File: (.*)\n```\n([\s\S]*)\n```$/m.exec(body) ?? [];
    return { type: 'selection', name, text: content };
  });
  const references = lines('github_references').map(
    (line): Attachment => ({ type: 'reference', name: line, text: line }),
  );
  const images = [...text.matchAll(unseenImage)].map(([, name = '']) => name);
  const seen = parts.flatMap((part, index) =>
    part.type === 'image' ? [labelOf(parts, index) ?? part.mimeType] : [],
  );
  const pictures = [...images, ...seen].map((name): Attachment => ({ type: 'image', name, text: '' }));
  return {
    ask: text
      .replace(wrapping, '')
      .replace(unseenImage, '')
      .replace(/^\s*\[\[PLAN\]\]/, '')
      .trim(),
    attachments: [...files, ...texts, ...selections, ...references, ...pictures],
    summarized: [...text.matchAll(/<user_message>\n([\s\S]*?)\n<\/user_message>/g)].map(
      ([, ask = '']) => ask,
    ),
    blocks,
  };
}

const unseenImage = /\[Image (.*): this model cannot see images\]/g;

function textOf(parts: readonly Part[]): string {
  const texts = parts.filter((_, index) => labelOf(parts, index + 1) === undefined);
  return texts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** The text before an image is its name, unless it is the prompt itself. */
function labelOf(parts: readonly Part[], index: number): string | undefined {
  const label = parts[index - 1];
  return index > 1 && parts[index]?.type === 'image' && label?.type === 'text' ? label.text : undefined;
}

/** A message that only accompanies tool results asks for nothing. */
function isContext(parts: readonly Part[]): boolean {
  const text = textOf(parts);
  return (
    /^(?:Additional context from |Image file at path |<skill-context )/.test(text) ||
    text.replace(wrapping, '').trim() === ''
  );
}

function summaryOf(text: string): readonly string[] {
  return [...text.matchAll(/<summary>\n([\s\S]*?)\n<\/summary>/g)].map(([, summary = '']) => summary);
}
