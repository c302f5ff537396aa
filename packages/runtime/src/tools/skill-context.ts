/** What a skill says to the model that takes it up. */
export function skillContext(
  { name, directory }: { readonly name: string; readonly directory: string },
  body: string,
): string {
  return `<skill-context name="${name}">\nBase directory for this skill: ${directory}\n\n${body}\n\n</skill-context>`;
}
