import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** The browser of this machine; tests in a browser are skipped without one. */
export const executablePath = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find(existsSync);

/** A file of the repository. */
export const file = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What no page may run, in every place a model, a tool or a user can write to. */
export const payload = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;

/** The size of a phone. */
export const phone = { width: 390, height: 844 };

/** The narrowest that is in use. */
export const smallPhone = { width: 360, height: 640 };

export const never = () => new Promise<never>(() => undefined);

export interface PageOptions {
  readonly path?: string;
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly colorScheme?: 'light' | 'dark';
  readonly hasTouch?: boolean;
  /** For a page of a test's own: what the server serves there may do nothing. */
  readonly bypassCSP?: boolean;
}

/** Pages of one server in a browser. */
export class Pages {
  private running: Browser | undefined;
  private readonly contexts: BrowserContext[] = [];

  constructor(
    private readonly server: { readonly url: string },
    private readonly token: string,
  ) {}

  async start(args: readonly string[] = []): Promise<void> {
    this.running = await chromium.launch({
      executablePath: executablePath ?? '',
      args: ['--no-sandbox', '--disable-gpu', ...args],
    });
  }

  get browser(): Browser {
    if (!this.running) throw new Error('The browser was not started');
    return this.running;
  }

  /** The page, entered by the token. */
  async open({ path = `/#${this.token}`, ...options }: PageOptions = {}): Promise<Page> {
    const context = await this.browser.newContext(options);
    this.contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(10_000);
    page.on('pageerror', (error) => console.log(`in the page: ${error.message}`));
    await page.goto(`${this.server.url}${path}`);
    if (path === `/#${this.token}`) await page.getByRole('navigation').waitFor();
    return page;
  }

  /** The page of a session. */
  async session(sessionId: string, options: PageOptions = {}): Promise<Page> {
    const page = await this.open(options);
    await page.goto(`${this.server.url}/#/${sessionId}`);
    await page.getByRole('tab', { name: 'Conversation' }).waitFor();
    return page;
  }

  async closeAll(): Promise<void> {
    for (const context of this.contexts.splice(0)) await context.close();
  }

  async stop(): Promise<void> {
    await this.running?.close();
  }
}

/** Faults that axe calls serious or critical. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  // The policy of the page lets no script in but its own: this one comes by the debugger.
  await page.evaluate(axe);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await checker.run();
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
  });
}

/** Takes a picture for the pages of docs, where `SCREENSHOTS` is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(file('docs/pictures'), { recursive: true });
  await page.screenshot({ path: file(`docs/pictures/${name}.png`) });
}
