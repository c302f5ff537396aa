import type { SystemMessage } from '../settings/session-settings.js';
import { type InstructionPlaces, instructionPlaces } from './instruction-files.js';
import { InstructionReader, type Instructions, noInstructions } from './instructions.js';
import type { PromptFacts } from './section.js';
import { sectionsToTransform, systemPrompt, type Transformed } from './system-prompt.js';

/** The sections that an app transforms, on the wire. */
export type SectionTexts = Readonly<Record<string, { readonly content: string }>>;

/** What the prompt is made with besides facts. */
export interface PromptParts {
  /** Has a client rewrite sections; undefined when none does. Rejects when it fails to. */
  transform(sections: SectionTexts, signal: AbortSignal): Promise<SectionTexts | undefined>;
}

/** What one session goes by. */
export interface PromptSettings {
  readonly message: SystemMessage | undefined;
  /** Where instructions stand; absent when none are to be read. */
  readonly places?: InstructionPlaces;
}

/** Facts that others know; what files say is found here. */
export type KnownFacts = Omit<PromptFacts, 'instructions'>;

/** Writes the text the model is given before anything else; anew only when something it speaks of has changed. */
export class PromptWriter {
  private readonly reader = new InstructionReader();
  private found: Instructions = noInstructions;
  /** By id, a section as it was and what the app made of it. */
  private transformed: ReadonlyMap<string, { readonly from: string; readonly to: string }> = new Map();
  private unsaid: string[] = [];
  private readonly said = new Set<string>();
  private written:
    | { readonly facts: PromptFacts; readonly message: SystemMessage | undefined; readonly text: string }
    | undefined;

  constructor(private readonly parts: PromptParts) {}

  /** What files said when they were last read. */
  get instructions(): Instructions {
    return this.found;
  }

  /** Reads the instructions again, and has the app transform its sections, all in one request. */
  async refresh(facts: KnownFacts, settings: PromptSettings, signal: AbortSignal): Promise<void> {
    this.readInstructions(settings.places);
    const { message } = settings;
    const texts = sectionsToTransform({ ...facts, instructions: this.found }, message);
    if (texts.size > 0 || this.transformed.size > 0) this.written = undefined;
    this.transformed = texts.size === 0 ? new Map() : await this.transform(texts, signal);
  }

  /** Reads the instructions as they stand. */
  readInstructions(places: InstructionPlaces | undefined): Instructions {
    this.found = places ? this.reader.read(instructionPlaces(places)) : noInstructions;
    this.warn(this.found.warnings);
    return this.found;
  }

  /** The prompt by what was read and transformed last. */
  write(known: KnownFacts, message: SystemMessage | undefined): string {
    const facts = { ...known, instructions: this.found };
    const { written } = this;
    if (written && written.message === message && areAlike(written.facts, facts)) return written.text;
    const text = systemPrompt(facts, message, this.transformedNow(facts, message));
    this.written = { facts, message, text };
    return text;
  }

  /** What clients have not been warned of yet; from now on they have. */
  takeWarnings(): readonly string[] {
    const warnings = this.unsaid;
    this.unsaid = [];
    return warnings;
  }

  /** A section that says something else by now stays as it is. */
  private transformedNow(facts: PromptFacts, message: SystemMessage | undefined): Transformed {
    if (this.transformed.size === 0) return new Map();
    const now = new Map<string, string>();
    for (const [id, text] of sectionsToTransform(facts, message)) {
      const known = this.transformed.get(id);
      if (known?.from === text) now.set(id, known.to);
    }
    return now;
  }

  private async transform(texts: ReadonlyMap<string, string>, signal: AbortSignal) {
    const sections = Object.fromEntries([...texts].map(([id, content]) => [id, { content }]));
    const answer = await this.parts.transform(sections, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      const reason = error instanceof Error ? error.message : String(error);
      this.warn([
        `The app did not transform the system message (${Object.keys(sections).join(', ')}), which stays as it was: ${reason}`,
      ]);
      return undefined;
    });
    const changed = [...texts].flatMap(([id, from]) =>
      answer && Object.hasOwn(answer, id) ? [[id, { from, to: answer[id]?.content ?? from }] as const] : [],
    );
    return new Map(changed);
  }

  private warn(messages: readonly string[]): void {
    for (const message of messages) {
      if (this.said.has(message)) continue;
      this.said.add(message);
      this.unsaid.push(message);
    }
  }
}

function areAlike(one: PromptFacts, other: PromptFacts): boolean {
  return (Object.keys({ ...one, ...other }) as (keyof PromptFacts)[]).every(
    (name) => one[name] === other[name],
  );
}
