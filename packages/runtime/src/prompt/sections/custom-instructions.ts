import type { PromptSection } from '../section.js';

/** Instructions of the repository and the organisation; a session that reads none has none. */
export const customInstructions: PromptSection = () => '';
