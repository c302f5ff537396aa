import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { methods } from '@agentclientprotocol/sdk';
import type { Tool, ToolInvocation, ToolResultObject } from '@groundcrew/sdk';
import { runInTerminal } from './editor-terminal.js';
import { type EditorToolParts, failed, succeeded } from './tool-result.js';

type Arguments = Readonly<Record<string, unknown>>;
type Work = (given: Arguments, invocation: ToolInvocation, signal: AbortSignal) => Promise<ToolResultObject>;

/** Longer files are shown by range only, unless the model insists. */
const easyCharacters = 20 * 1024;

/**
 * The tools that an editor does the work of: files through its buffers, which may not be saved yet, and commands in its
 * terminals. They are judged as the built-in tools are.
 */
export function editorTools(parts: EditorToolParts): readonly Tool[] {
  const { fs, terminal } = parts.abilities;
  const files = new EditorFiles(parts);
  return [
    ...(fs?.readTextFile
      ? [acting('view', parts, (given, { sessionId }, signal) => files.view(given, { sessionId, signal }))]
      : []),
    ...(fs?.readTextFile && fs.writeTextFile
      ? [
          acting(
            'edit',
            parts,
            once(parts, (given, { sessionId }, signal) => files.edit(given, { sessionId, signal })),
          ),
        ]
      : []),
    ...(fs?.writeTextFile
      ? [
          acting(
            'create',
            parts,
            once(parts, (given, { sessionId }, signal) => files.create(given, { sessionId, signal })),
          ),
        ]
      : []),
    ...(terminal
      ? [
          acting(
            'bash',
            parts,
            once(parts, (...call) => runInTerminal(parts, ...call)),
          ),
        ]
      : []),
  ];
}

function acting(name: string, parts: EditorToolParts, work: Work): Tool {
  return {
    name,
    overridesBuiltInTool: true,
    actsForBuiltIn: true,
    handler: async (given, invocation, signal) => {
      await parts.ready();
      return work((given ?? {}) as Arguments, invocation, signal);
    },
  };
}

/** A call that an earlier agent was asked for may have been done: it is not done again. */
function once({ isLive }: EditorToolParts, work: Work): Work {
  return async (given, invocation, signal) => {
    await nextTurn();
    if (isLive(invocation.toolCallId)) return work(given, invocation, signal);
    return failed(
      'The editor went away during this call. It is not known whether it was done: look before you repeat it.',
    );
  };
}

/** Whose call it is, and how long the editor's answer is waited for. */
interface FileCall {
  readonly sessionId: string;
  readonly signal: AbortSignal;
}

/** Files as the editor has them. */
class EditorFiles {
  private readonly last = new Map<string, Promise<unknown>>();

  constructor(private readonly parts: EditorToolParts) {}

  view(given: Arguments, call: FileCall): Promise<ToolResultObject> {
    return orFailure(this.shown(given, call));
  }

  private async shown(given: Arguments, call: FileCall): Promise<ToolResultObject> {
    const text = await this.read(this.pathOf(given), call);
    const lines = text.replace(/\n$/, '').split('\n');
    const [first = 1, end = -1] = Array.isArray(given.view_range) ? given.view_range.map(Number) : [];
    if (text.length > easyCharacters && !given.view_range && given.forceReadLargeFiles !== true)
      return succeeded(
        `File too large to read at once (${Math.ceil(text.length / 1024)} KB). Consider using the grep tool to search within the file, or view with view_range to read specific sections.`,
      );
    if (first > lines.length)
      return failed(
        `Invalid view_range: start line (${first}) is beyond the end of the file. The file has ${lines.length} lines.`,
      );
    const shown = lines.slice(first - 1, end === -1 ? undefined : end);
    return succeeded(text === '' ? '' : shown.map((line, at) => `${first + at}. ${line}`).join('\n'));
  }

  edit(given: Arguments, call: FileCall): Promise<ToolResultObject> {
    const path = this.pathOf(given);
    return this.inTurn(path, async () => {
      const [oldText, newText] = [String(given.old_str ?? ''), String(given.new_str ?? '')];
      const before = await this.read(path, call);
      const at = before.indexOf(oldText);
      if (oldText === '' || at < 0)
        return failed(
          `No match found: old_str not found in ${path}; no changes made; you might want to try again with correct old_str`,
        );
      if (before.indexOf(oldText, at + 1) >= 0)
        return failed(
          `Ambiguous match for old_str in ${path}. No changes made; try again with a more specific old_str.`,
        );
      await this.write(path, before.slice(0, at) + newText + before.slice(at + oldText.length), call);
      const line = before.slice(0, at).split('\n').length;
      return succeeded(`File ${path} updated with changes.`, pieceDiff(path, { line, oldText, newText }));
    });
  }

  create(given: Arguments, call: FileCall): Promise<ToolResultObject> {
    const path = this.pathOf(given);
    return this.inTurn(path, async () => {
      const newText = String(given.file_text ?? '');
      await this.write(path, newText, call);
      return succeeded(
        `Created file ${path} with ${newText.length} characters`,
        pieceDiff(path, { line: 1, newText }),
      );
    });
  }

  private pathOf({ path }: Arguments): string {
    return resolve(this.parts.workingDirectory, String(path));
  }

  /** Editors know the files of their project; others are read from the disk. */
  private async read(path: string, { sessionId, signal }: FileCall): Promise<string> {
    const { editor } = this.parts;
    const asked = editor.request(methods.client.fs.readTextFile, { sessionId, path }, waiting(signal));
    const answer = await asked.catch(() => undefined);
    signal.throwIfAborted();
    if (answer === undefined) return readFile(path, 'utf8');
    // Whatever an editor sends comes this far.
    const { content } = (answer ?? {}) as { readonly content?: unknown };
    if (typeof content !== 'string') throw new Error(`its answer has no text of ${path}`);
    return content;
  }

  private async write(path: string, content: string, { sessionId, signal }: FileCall): Promise<void> {
    const { editor } = this.parts;
    await editor.request(methods.client.fs.writeTextFile, { sessionId, path, content }, waiting(signal));
  }

  /** Edits of the same file made side by side follow one another. */
  private inTurn(path: string, work: () => Promise<ToolResultObject>): Promise<ToolResultObject> {
    const done = orFailure((this.last.get(path) ?? Promise.resolve()).then(work));
    this.last.set(path, done);
    return done;
  }
}

/** An editor that never answers is waited for no longer than its call: the next one of the same file comes after it. */
function waiting(signal: AbortSignal) {
  return { cancellationSignal: signal, stopWaitingOnCancel: true };
}

async function orFailure(work: Promise<ToolResultObject>): Promise<ToolResultObject> {
  try {
    return await work;
  } catch (error) {
    return failed(`The editor could not do it: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function pieceDiff(
  path: string,
  { line, oldText, newText }: { readonly line: number; readonly oldText?: string; readonly newText: string },
): string {
  const [before, after] = [linesOf(oldText ?? ''), linesOf(newText)];
  const from = oldText === undefined ? '/dev/null' : `a${path}`;
  return [
    `--- ${from}`,
    `+++ b${path}`,
    `@@ -${line},${before.length} +${line},${after.length} @@`,
    ...before.map((each) => `-${each}`),
    ...after.map((each) => `+${each}`),
    '',
  ].join('\n');
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}
