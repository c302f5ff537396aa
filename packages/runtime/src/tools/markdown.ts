import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

declare const __TURNDOWN__: string | undefined;

/**
 * What a page says, as markdown: without scripts and styles.
 * In a thread of its own, for a page of a megabyte takes seconds, and one made with ill will takes all memory it can get.
 */
export function toMarkdown(html: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const require = createRequire(import.meta.filename);
    const worker = new Worker(script, {
      eval: true,
      env: {},
      workerData: { html, turndown: require.resolve(turndown) },
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    const stop = () => {
      reject(signal.reason);
      void worker.terminate();
    };
    signal.addEventListener('abort', stop, { once: true });
    worker.once('message', (markdown: string) => resolve(withTitle(markdown, html)));
    worker.once('error', (error) =>
      reject(new Error(`the page could not be read (${error.message}); try raw`)),
    );
    worker.once('exit', () => signal.removeEventListener('abort', stop));
  });
}

/** The bundle has a file of it beside itself: as a package it weighs nine megabytes, most of them tests. */
const turndown = typeof __TURNDOWN__ === 'undefined' ? 'turndown' : __TURNDOWN__;

const script = `
const { parentPort, workerData } = require('node:worker_threads');
const Turndown = require(workerData.turndown);
const service = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
service.remove(['script', 'style', 'noscript', 'template', 'iframe', 'svg', 'title']);
parentPort.postMessage(service.turndown(workerData.html));
`;

/** Many pages say what they are about only there. */
function withTitle(markdown: string, html: string): string {
  const text = markdown.replace(/\n{3,}/g, '\n\n').trim();
  const title = /<title[^>]*>([^<]{1,200})<\/title>/i.exec(html.slice(0, 10_000))?.[1]?.trim();
  return title && !text.includes(title) ? `# ${title}\n\n${text}` : text;
}
