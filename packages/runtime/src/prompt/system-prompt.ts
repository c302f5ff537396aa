import type { SystemMessage } from '../settings/session-settings.js';
import type { PromptFacts, PromptSection } from './section.js';
import { codeChangeRules, guidelines, lastInstructions, preamble, safety, tone } from './sections/conduct.js';
import { customInstructions } from './sections/custom-instructions.js';
import { environmentContext } from './sections/environment-context.js';
import { runtimeInstructions } from './sections/runtime-instructions.js';
import { toolEfficiency, toolInstructions } from './sections/tool-use.js';

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
type Overrides = Readonly<Record<string, Override>>;

/** What the app made of the sections that it transforms, by their ids. */
export type Transformed = ReadonlyMap<string, string>;

/** Ids an app wants to edit that no section has, and whether their content is appended. */
export function unknownSections(
  message: SystemMessage | undefined,
): readonly { readonly id: string; readonly isAppended: boolean }[] {
  return Object.entries(overridesOf(message))
    .filter(([id]) => !isKnown(id))
    .map(([id, { action }]) => ({ id, isAppended: action !== 'remove' && action !== 'preserve' }));
}

/** The texts of the sections that the app wants to transform, as they stand. */
export function sectionsToTransform(
  facts: PromptFacts,
  message: SystemMessage | undefined,
): ReadonlyMap<string, string> {
  const overrides = overridesOf(message);
  const ids = Object.keys(overrides).filter((id) => isTransformed(overrides[id]) && isKnown(id));
  if (ids.length === 0) return new Map();
  const texts = sectionTexts(facts, overrides);
  const textOf = (id: string) =>
    Object.hasOwn(groups, id) ? groupText(texts, groups[id] ?? []) : (texts.get(id) ?? '');
  return new Map(ids.map((id) => [id, textOf(id)]));
}

/** The text the model is given before anything else. A section whose transformed text is not known stays as it is. */
export function systemPrompt(
  facts: PromptFacts,
  message: SystemMessage | undefined,
  transformed: Transformed,
): string {
  if (message?.mode === 'replace') return message.content ?? '';
  const overrides = overridesOf(message);
  const before = sectionTexts(facts, overrides);
  const texts = new Map([...before].map(([id, text]) => [id, transformed.get(id) ?? text]));
  for (const [group, members] of Object.entries(groups)) {
    const changed = transformed.get(group);
    if (changed !== undefined) setGroup(texts, members, withMembers(changed, members, { before, texts }));
    else editGroup(texts, members, overrides[group], overrides);
  }
  const unknownContents = unknownSections(message).map(({ id, isAppended }) =>
    isAppended ? (overrides[id]?.content ?? '') : '',
  );
  return join('\n\n', ...texts.values(), ...unknownContents, message?.content ?? '');
}

function overridesOf(message: SystemMessage | undefined): Overrides {
  return message?.mode === 'customize' ? (message.sections ?? {}) : {};
}

function isKnown(id: string): boolean {
  return Object.hasOwn(sections, id) || Object.hasOwn(groups, id);
}

function isTransformed(override: Override | undefined): boolean {
  return override?.action === 'transform';
}

function sectionTexts(facts: PromptFacts, overrides: Overrides): Map<string, string> {
  return new Map(Object.entries(sections).map(([id, write]) => [id, edit(write(facts), overrides[id])]));
}

/** The group's text takes the place of its first member; members that are to be preserved keep theirs. */
function editGroup(
  texts: Map<string, string>,
  members: readonly string[],
  override: Override | undefined,
  overrides: Overrides,
): void {
  if (!override || isTransformed(override)) return;
  const edited = members.filter((member) => overrides[member]?.action !== 'preserve');
  setGroup(texts, edited, edit(groupText(texts, edited), override));
}

function setGroup(texts: Map<string, string>, members: readonly string[], text: string): void {
  for (const [index, member] of members.entries()) texts.set(member, index === 0 ? text : '');
}

/** What the app made of a member counts within what it made of the group, where that still has the member's text. */
function withMembers(
  text: string,
  members: readonly string[],
  {
    before,
    texts,
  }: { readonly before: ReadonlyMap<string, string>; readonly texts: ReadonlyMap<string, string> },
): string {
  return members.reduce((whole, member) => {
    const old = before.get(member) ?? '';
    return old === '' ? whole : whole.replace(old, () => texts.get(member) ?? '');
  }, text);
}

function groupText(texts: ReadonlyMap<string, string>, members: readonly string[]): string {
  return join('\n\n', ...members.map((id) => texts.get(id) ?? ''));
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
