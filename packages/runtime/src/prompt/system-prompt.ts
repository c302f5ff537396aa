import type { SystemMessage } from '../session/settings.js';
import { type PromptFacts, sections } from './sections.js';

/** The text the model is given before anything else. */
export function systemPrompt(facts: PromptFacts, message: SystemMessage | undefined): string {
  if (message?.mode === 'replace') return message.content ?? '';
  const overrides = message?.mode === 'customize' ? (message.sections ?? {}) : {};
  const known = sections.map(({ id, write }) => edit(write(facts), overrides[id]));
  const unknown = Object.entries(overrides)
    .filter(([id]) => !sections.some((section) => section.id === id))
    .map(([, override]) => override.content ?? '');
  return [...known, ...unknown, message?.content ?? ''].filter((text) => text !== '').join('\n\n');
}

function edit(
  text: string,
  override: { readonly action?: string; readonly content?: string } | undefined,
): string {
  const content = override?.content ?? '';
  switch (override?.action) {
    case 'replace':
      return content;
    case 'remove':
      return '';
    case 'append':
      return join(text, content);
    case 'prepend':
      return join(content, text);
    default:
      return text;
  }
}

function join(first: string, second: string): string {
  return [first, second].filter((text) => text !== '').join('\n');
}
