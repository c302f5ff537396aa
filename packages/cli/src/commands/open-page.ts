import { spawn } from 'node:child_process';
import type { Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';

/** Shows a page to the user: its address always, and a browser where a user sits at the terminal. */
export function openPage(
  url: string,
  {
    opens,
    terminal,
  }: { readonly opens: boolean; readonly terminal: Pick<Terminal, 'errorOutput' | 'environment'> },
): void {
  terminal.errorOutput.write(`Log in here: ${visible(url)}\n`);
  if (opens) openBrowser(url, terminal);
}

/** Opens a browser where a user sits at the terminal. */
export function openBrowser(
  url: string,
  { errorOutput, environment }: Pick<Terminal, 'errorOutput' | 'environment'>,
): void {
  const [command, ...args] = openers[process.platform] ?? ['xdg-open'];
  const hasScreen = process.platform !== 'linux' || environment.DISPLAY || environment.WAYLAND_DISPLAY;
  if (!errorOutput.isTTY || !hasScreen || command === undefined) return;
  // No shell reads the address, and it begins with http: it is no flag.
  const browser = spawn(command, [...args, url], { stdio: 'ignore', detached: true });
  browser.once('error', () => errorOutput.write('No browser could be opened.\n'));
  browser.unref();
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
