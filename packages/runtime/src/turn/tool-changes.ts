import type { Tool } from '../tools/tool.js';

/** Which tools the model last received, so that its next prompt says what came and went since. */
export class ToolChanges {
  private shown: ReadonlyMap<string, Tool['source']> | undefined;

  /** The text for the next prompt; empty the first time and when nothing changed. `isMeant`: changes of other tools wait. */
  notice(
    tools: readonly Pick<Tool, 'name' | 'source'>[],
    isMeant: (tool: Pick<Tool, 'source'>) => boolean = () => true,
  ): string {
    const before = this.shown;
    const now = new Map(tools.map(({ name, source }) => [name, source]));
    if (!before) {
      this.shown = now;
      return '';
    }
    const isNew = ([name, source]: [string, Tool['source']]) => !before.has(name) && isMeant({ source });
    const isGone = ([name, source]: [string, Tool['source']]) => !now.has(name) && isMeant({ source });
    const came = [...now].filter(isNew);
    const went = [...before].filter(isGone);
    const known = [...before].filter(([name]) => !went.some(([gone]) => gone === name));
    this.shown = new Map([...known, ...came]);
    return textOf(
      came.map(([name]) => name),
      went.map(([name]) => name),
    );
  }
}

function textOf(came: readonly string[], went: readonly string[]): string {
  if (came.length === 0 && went.length === 0) return '';
  const lines = [
    ...(came.length > 0 ? [`New tools available: ${came.join(', ')}`] : []),
    ...(went.length > 0 ? [`Tools no longer available: ${went.join(', ')}`] : []),
    "Important: Do not attempt to call tools that are no longer available unless you've been notified that they're available again.",
  ];
  return `<tools_changed_notice>\n${lines.join('\n\n')}\n</tools_changed_notice>\n\n`;
}
