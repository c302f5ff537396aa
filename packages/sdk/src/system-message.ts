/** The parts of the system prompt that `customize` may change, each with what it holds. */
export const SYSTEM_MESSAGE_SECTIONS = {
  preamble: { description: 'Who the agent is, in a sentence.' },
  identity: { description: 'The group of preamble, tone and tool_efficiency.' },
  tone: { description: 'How answers are written: length, form, style.' },
  tool_efficiency: { description: 'How tools are used well: side by side, in batches.' },
  environment_context: { description: 'Where the agent works: directory, system, repository.' },
  code_change_rules: { description: 'How code is changed, tested and styled.' },
  guidelines: { description: 'Good habits and advice.' },
  safety: { description: 'Limits of the environment and what is forbidden.' },
  tool_instructions: { description: 'What is to be known of each tool.' },
  custom_instructions: { description: 'The instructions of the repository and organisation.' },
  runtime_instructions: { description: 'What the runtime adds: notices, workspace, mode.' },
  last_instructions: { description: 'What stands at the end: going on, and when to stop.' },
} as const;

/** The name of a part of the system prompt. */
export type SystemMessageSection = keyof typeof SYSTEM_MESSAGE_SECTIONS;

/** Rewrites a part before each model call: gets the text as it stands, answers the text to be used. One that throws leaves the part as it is. */
export type SectionTransform = (currentContent: string) => string | Promise<string>;

/** What becomes of one part. */
export interface SectionOverride {
  readonly action: 'replace' | 'remove' | 'append' | 'prepend' | 'preserve' | SectionTransform;
  readonly content?: string;
}

/** How the app shapes the system prompt. */
export type SystemMessageConfig =
  /** Adds to the prompt; the default. */
  | { readonly mode?: 'append'; readonly content?: string }
  /** Is the whole prompt. */
  | { readonly mode: 'replace'; readonly content: string }
  /** Changes parts of it; the content of an unknown part is appended, with a warning. */
  | {
      readonly mode: 'customize';
      readonly sections?: Readonly<
        Partial<Record<SystemMessageSection, SectionOverride>> & Record<string, SectionOverride>
      >;
      readonly content?: string;
    };

/** The parts that call back. */
export function transformsOf(config: SystemMessageConfig | undefined): ReadonlyMap<string, SectionTransform> {
  const transforms = new Map<string, SectionTransform>();
  for (const [section, { action }] of sectionsOf(config)) {
    if (typeof action === 'function') transforms.set(section, action);
  }
  return transforms;
}

/** The wire form: a part that calls back is named as such. */
export function systemMessageParams(config: SystemMessageConfig) {
  if (config.mode !== 'customize' || !config.sections) return config;
  const sections = sectionsOf(config).map(([section, override]) => {
    const action = typeof override.action === 'function' ? ('transform' as const) : override.action;
    return [section, { ...override, action }] as const;
  });
  return { ...config, sections: Object.fromEntries(sections) };
}

function sectionsOf(
  config: SystemMessageConfig | undefined,
): readonly (readonly [string, SectionOverride])[] {
  return config?.mode === 'customize' ? Object.entries(config.sections ?? {}) : [];
}
