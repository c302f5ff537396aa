import type { PromptSection } from '../section.js';

/** How answers are written. */
export const tone: PromptSection = () => `# Tone
Answer in as few plain sentences as the question needs. Lead with the result. Leave out preambles, praise and repetition of what the user said. Use markdown where it helps reading, and name files by their path.`;
