import type { Prompt } from '@modelcontextprotocol/client';
import { namesFor } from './names.js';
import { plainText } from './plain-text.js';
import type { McpServer } from './server.js';

/** A prompt of a server as users call it. */
export interface PromptCommand {
  readonly name: string;
  readonly description: string;
  /** What follows the name. */
  readonly hint?: string;
  readonly server: McpServer;
  readonly prompt: Prompt;
}

const longestDescription = 500;
const longestText = 256 * 1024;

/** The prompts of all servers as commands: `<server>-<prompt>`, by the same rule as tools. */
export function promptCommands(servers: readonly McpServer[]): readonly PromptCommand[] {
  const all = servers.flatMap((server) => server.prompts.map((prompt) => ({ server, prompt })));
  const names = namesFor(all.map(({ server, prompt }) => ({ server: server.name, tool: prompt.name })));
  return all.map(({ server, prompt }, index) => {
    const words = (prompt.arguments ?? []).map(({ name, required }) =>
      required ? `<${name}>` : `[${name}]`,
    );
    return {
      name: names[index] ?? prompt.name,
      description: plainText(prompt.description ?? prompt.title ?? prompt.name, longestDescription),
      server,
      prompt,
      ...(words.length > 0 && { hint: plainText(words.join(' '), longestDescription) }),
    };
  });
}

/** The text that a server makes of its prompt; rejects, in words, when an argument is missing or the server fails. */
export async function promptText({ server, prompt, name }: PromptCommand, input: string): Promise<string> {
  const given = argumentsOf(prompt, input);
  const missing = (prompt.arguments ?? []).filter(
    (each) => each.required && !Object.hasOwn(given, each.name),
  );
  if (missing.length > 0)
    throw new Error(`/${name} needs ${missing.map((each) => plainText(each.name, 100)).join(', ')}`);
  const { messages } = await server.ask((connection, limit) => connection.prompt(prompt.name, given, limit));
  const texts = messages.map(({ role, content }) => {
    const text = textOf(content);
    return role === 'assistant' ? `(assistant) ${text}` : text;
  });
  return plainText(texts.join('\n\n'), longestText);
}

type Content = { readonly type: string; readonly [field: string]: unknown };

function textOf(content: Content): string {
  if (content.type === 'text') return String(content.text);
  const { resource, uri, mimeType } = content as {
    readonly resource?: { readonly uri?: string; readonly text?: string };
    readonly uri?: string;
    readonly mimeType?: string;
  };
  if (resource?.text !== undefined) return resource.text;
  return `[${content.type}: ${resource?.uri ?? uri ?? mimeType ?? ''}]`;
}

/** Words of the form `name=value` name their argument; the others are taken in order, and the last argument takes what is left. */
function argumentsOf({ arguments: known = [] }: Prompt, input: string): Record<string, string> {
  const given: Record<string, string> = Object.create(null);
  const words = [...input.matchAll(/(?:([\w-]+)=)?(?:"([^"]*)"|(\S+))/g)];
  const rest: string[] = [];
  for (const [whole, name, quoted, plain] of words) {
    const isNamed = name !== undefined && known.some((each) => each.name === name);
    if (isNamed) given[name] = quoted ?? plain ?? '';
    else rest.push(name === undefined ? (quoted ?? plain ?? '') : whole);
  }
  const open = known.filter(({ name }) => !Object.hasOwn(given, name));
  for (const [index, { name }] of open.entries()) {
    const isLast = index === open.length - 1;
    const value = isLast ? rest.slice(index).join(' ') : rest[index];
    if (value) given[name] = value;
  }
  return given;
}
