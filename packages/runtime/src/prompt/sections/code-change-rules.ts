import { type PromptSection, tagged } from '../section.js';

/** How code is changed. */
export const codeChangeRules: PromptSection = () =>
  tagged(
    'code_change_instructions',
    `Read before you write: follow the style, names and libraries of the code around.
Make the smallest change that does the whole job. Do not mend what you were not asked to mend; mention it instead.
Check your change with the tests, linters and builds the project already has. Add no tools to it unless asked.
Comment only what the code cannot say. Update what describes the code you changed.
Never weaken a test to make it pass.`,
  );
