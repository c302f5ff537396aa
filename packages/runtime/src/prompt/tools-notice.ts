/** Says to the model that its tools are not those of its last turn; empty when they are. */
export function toolsChangedNotice(came: readonly string[], went: readonly string[]): string {
  if (came.length === 0 && went.length === 0) return '';
  const lines = [
    ...(came.length > 0 ? [`New tools available: ${came.join(', ')}`] : []),
    ...(went.length > 0 ? [`Tools no longer available: ${went.join(', ')}`] : []),
    "Important: Do not attempt to call tools that are no longer available unless you've been notified that they're available again.",
  ];
  return `<tools_changed_notice>\n${lines.join('\n\n')}\n</tools_changed_notice>\n\n`;
}
