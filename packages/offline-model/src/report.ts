import type { ToolResult } from './conversation.js';

/** What tools gave, in their own words; denials and failures are called so. */
export function report(results: readonly ToolResult[]): string {
  const [only, second] = results;
  if (only && !second) return describe(only);
  return results.map((result) => `- ${labelled(result)}`).join('\n');
}

/** True for a result that says that nothing was done. */
export function isFailure({ text }: ToolResult): boolean {
  return denial.test(text) || failure.test(text);
}

const longest = 16_000;
const denial =
  /^(?:permission (?:to .* was )?denied|the user (?:rejected|denied)|denied by|.* was denied\b)/i;
const failure =
  /^(?:[\w.]*error\b|failed to |failure\b|invalid (?:input|view_range)|no match found|ambiguous match|(?:tool|path|parent directory|skill) .* (?:does not exist|already exists|not found)|the execution of this tool|the arguments for the tool call|sql error|mcp server '.*': )/i;

function labelled(result: ToolResult): string {
  const text = describe(result);
  return isFailure(result) || text.startsWith(result.name) ? text : `${result.name}: ${text}`;
}

function describe({ name, text }: ToolResult): string {
  if (denial.test(text)) return `The call of ${name} was denied: ${text}`;
  if (failure.test(text)) return `The call of ${name} failed: ${text}`;
  const plain = text.replace(
    /\n?<(?:shellId: \S+ completed|exited) with exit code (-?\d+)>\s*$/,
    (_, code: string) => (code === '0' ? '' : `\n(exit code ${code})`),
  );
  if (plain.trim() === '') return `${name} gave no output.`;
  return plain.length > longest
    ? `${plain.slice(0, longest)}\n(${plain.length - longest} more characters)`
    : plain.trim();
}
