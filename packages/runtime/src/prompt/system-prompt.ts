import type { SystemMessage } from '../settings/session-settings.js';
import type { PromptFacts, PromptSection } from './section.js';
import { codeChangeRules } from './sections/code-change-rules.js';
import { customInstructions } from './sections/custom-instructions.js';
import { environmentContext } from './sections/environment-context.js';
import { guidelines } from './sections/guidelines.js';
import { lastInstructions } from './sections/last-instructions.js';
import { preamble } from './sections/preamble.js';
import { runtimeInstructions } from './sections/runtime-instructions.js';
import { safety } from './sections/safety.js';
import { tone } from './sections/tone.js';
import { toolEfficiency } from './sections/tool-efficiency.js';
import { toolInstructions } from './sections/tool-instructions.js';

/** All sections under the ids by which apps edit them, in the order the model reads them. */
const sections: Readonly<Record<string, PromptSection>> = {
  preamble,
  tone,
  tool_efficiency: toolEfficiency,
  code_change_rules: codeChangeRules,
  guidelines,
  safety,
  environment_context: environmentContext,
  tool_instructions: toolInstructions,
  custom_instructions: customInstructions,
  runtime_instructions: runtimeInstructions,
  last_instructions: lastInstructions,
};

/** Ids that stand for several sections, which follow one another. */
const groups: Readonly<Record<string, readonly string[]>> = {
  identity: ['preamble', 'tone', 'tool_efficiency'],
};

type Override = NonNullable<SystemMessage['sections']>[string];

/** Writes the text the model is given before anything else; anew only when something it speaks of has changed. */
export class PromptWriter {
  private facts: PromptFacts | undefined;
  private message: SystemMessage | undefined;
  private text = '';

  write(facts: PromptFacts, message: SystemMessage | undefined): string {
    if (this.facts && this.message === message && areAlike(this.facts, facts)) return this.text;
    this.facts = facts;
    this.message = message;
    this.text = systemPrompt(facts, message);
    return this.text;
  }
}

/** Ids an app wants to edit that no section has; their content is appended. */
export function unknownSections(message: SystemMessage | undefined): readonly string[] {
  if (message?.mode !== 'customize') return [];
  return Object.keys(message.sections ?? {}).filter(
    (id) => !Object.hasOwn(sections, id) && !Object.hasOwn(groups, id),
  );
}

function systemPrompt(facts: PromptFacts, message: SystemMessage | undefined): string {
  if (message?.mode === 'replace') return message.content ?? '';
  const overrides = message?.mode === 'customize' ? (message.sections ?? {}) : {};
  const texts = new Map(
    Object.entries(sections).map(([id, write]) => [id, edit(write(facts), overrides[id])]),
  );
  for (const [group, members] of Object.entries(groups)) editGroup(texts, members, overrides[group]);
  const unknownNames = unknownSections(message).map((id) => overrides[id]?.content ?? '');
  return join('\n\n', ...texts.values(), ...unknownNames, message?.content ?? '');
}

/** The group's text takes the place of its first member. */
function editGroup(
  texts: Map<string, string>,
  members: readonly string[],
  override: Override | undefined,
): void {
  const [first] = members;
  if (!override || first === undefined) return;
  const text = edit(join('\n\n', ...members.map((id) => texts.get(id) ?? '')), override);
  for (const id of members) texts.set(id, '');
  texts.set(first, text);
}

function edit(text: string, override: Override | undefined): string {
  const content = override?.content ?? '';
  switch (override?.action) {
    case 'replace':
      return content;
    case 'remove':
      return '';
    case 'append':
      return join('\n', text, content);
    case 'prepend':
      return join('\n', content, text);
    default:
      return text;
  }
}

function join(separator: string, ...texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(separator);
}

function areAlike(one: PromptFacts, other: PromptFacts): boolean {
  return (
    one.workingDirectory === other.workingDirectory &&
    one.gitRoot === other.gitRoot &&
    one.platform === other.platform &&
    one.model === other.model &&
    one.version === other.version &&
    one.toolset === other.toolset &&
    one.isCopilot === other.isCopilot &&
    one.mode === other.mode
  );
}
