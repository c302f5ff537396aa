import Turndown from 'turndown';

/** What a page says, as markdown: without scripts and styles. Only for workers: a page of a megabyte takes seconds. */
export function markdownOf(html: string): string {
  const service = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  service.remove(unread);
  return withTitle(service.turndown(html), html);
}

const unread = ['script', 'style', 'noscript', 'template', 'iframe', 'svg', 'title'];

/** Many pages say what they are about only there. */
function withTitle(markdown: string, html: string): string {
  const text = markdown.replace(/\n{3,}/g, '\n\n').trim();
  const title = /<title[^>]*>([^<]{1,200})<\/title>/i.exec(html.slice(0, 10_000))?.[1]?.trim();
  return title && !text.includes(title) ? `# ${title}\n\n${text}` : text;
}
