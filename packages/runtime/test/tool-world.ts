import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workerEntry } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach } from 'vitest';
import { Workers } from '../src/exec/workers.js';
import { boundResult } from '../src/gate/bound-result.js';
import type { PermissionQuestion } from '../src/permissions/question.js';
import { type SessionShells, Shells } from '../src/tools/shell/shells.js';
import {
  type Tool,
  type ToolContext,
  ToolFailure,
  ToolInputError,
  type ToolNotice,
  type ToolResult,
} from '../src/tools/tool.js';

/** What came of one call in a test. */
export interface Tried {
  readonly questions: readonly PermissionQuestion[];
  readonly result?: ToolResult;
  /** What the model reads about a failure, and what users are. */
  readonly failure?: { readonly text: string; readonly message: string };
}

/** A directory to work in, one beside it that is out of bounds, and the way to call a tool there. */
export class ToolWorld {
  private root = '';
  private readonly workers = new Workers({ entry: workerEntry() });
  readonly notices: ToolNotice[] = [];
  allShells = new Shells({});
  shells: SessionShells = this.allShells.forSession();

  /** Made anew for each test of a file. */
  static forEachTest(): ToolWorld {
    const world = new ToolWorld();
    beforeEach(() => world.open());
    afterEach(() => world.close());
    afterAll(() => world.workers.close());
    return world;
  }

  /** Inside. */
  path(...names: readonly string[]): string {
    return join(this.root, 'work', ...names);
  }

  /** Out of bounds. */
  outside(...names: readonly string[]): string {
    return join(this.root, 'outside', ...names);
  }

  context(more: Partial<ToolContext> = {}): ToolContext {
    const sessionDirectory = join(this.root, 'session');
    return {
      sessionId: 's1',
      toolCallId: 'c1',
      workingDirectory: this.path(),
      sessionDirectory,
      allowedDirectories: [this.path(), sessionDirectory],
      largeOutput: {
        isEnabled: true,
        maxBytes: 20 * 1024,
        directory: join(sessionDirectory, 'temp'),
        sessionDirectory,
      },
      shells: this.shells,
      jobs: this.workers,
      progress: () => undefined,
      notify: (notice) => void this.notices.push(notice),
      ...more,
    };
  }

  /** Asks what there is to ask, answers with `answer`, and runs the call. */
  async call(
    tool: Tool,
    input: unknown,
    options: { readonly context?: Partial<ToolContext>; answer?(question: PermissionQuestion): void } = {},
  ): Promise<Tried> {
    const questions: PermissionQuestion[] = [];
    try {
      const context = this.context(options.context);
      const prepared = await tool.prepare(input, context);
      for (const next of prepared.questions ?? []) {
        const question = typeof next === 'function' ? await next() : next;
        questions.push(question);
        options.answer?.(question);
      }
      if (prepared.type !== 'run') return { questions };
      const result = await prepared.run(new AbortController().signal);
      // As the gate does it with the result of every tool.
      return { questions, result: await boundResult(result, context.largeOutput) };
    } catch (error) {
      return { questions, failure: failureOf(error) };
    }
  }

  /** What the model reads about a call. */
  async published(tool: Tool, input: unknown): Promise<string> {
    const { result, failure } = await this.call(tool, input);
    return result?.text ?? failure?.text ?? '';
  }

  private open(): void {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'groundcrew-tools-')));
    this.notices.length = 0;
    this.allShells = new Shells(process.env);
    this.shells = this.allShells.forSession();
    mkdirSync(this.path());
    mkdirSync(this.outside());
  }

  private async close(): Promise<void> {
    await this.allShells.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

function failureOf(error: unknown): { readonly text: string; readonly message: string } {
  if (error instanceof ToolFailure) return { text: error.text, message: error.message };
  if (error instanceof ToolInputError)
    return { text: `Invalid input: ${error.message}`, message: error.message };
  if (error instanceof Error) return { text: `${error.name}: ${error.message}`, message: error.message };
  throw error;
}
