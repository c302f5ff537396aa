import { type PromptSection, tagged } from '../section.js';

/** Where the agent works. */
export const environmentContext: PromptSection = ({
  workingDirectory,
  gitRoot,
  platform,
  model,
  version,
}) => {
  const lines = [
    `Working directory: ${workingDirectory}`,
    ...(gitRoot === undefined ? [] : [`Git root: ${gitRoot}`]),
    `Operating system: ${names[platform] ?? platform}`,
    `Model: ${model}`,
    `Runtime: groundcrew ${version}`,
  ];
  return tagged('environment_context', lines.join('\n'));
};

const names: Readonly<Record<string, string>> = { darwin: 'macOS', linux: 'Linux', win32: 'Windows' };
