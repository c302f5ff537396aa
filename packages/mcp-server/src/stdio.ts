import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { McpFactory } from './http.js';

/** Serves one host on stdin and stdout; resolves when it has closed its end, or the signal says so. */
export async function mcpOverStdio(factory: McpFactory, signal: AbortSignal): Promise<void> {
  const transport = new StdioServerTransport();
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const served = serveStdio(factory, { transport });
  await ended;
  await served.close();
}
