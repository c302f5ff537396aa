/** What a page says, as markdown: without scripts, styles and what is only there to move about in the site. */
export async function toMarkdown(html: string): Promise<string> {
  const { default: Turndown } = await import('turndown');
  const service = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.remove(['script', 'style', 'noscript', 'template', 'iframe', 'svg', 'head']);
  const markdown = service
    .turndown(html)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(html)?.[1]?.trim();
  return title && !markdown.includes(title) ? `# ${service.turndown(title)}\n\n${markdown}` : markdown;
}
