import { extname } from 'node:path';
import { isObject } from '@groundcrew/models';
import type { LaterQuestion, PermissionQuestion } from '../permissions/question.js';
import { locate } from '../workspace/paths.js';
import { changeDiff } from './diff.js';
import { externalTool, type ToolDeclaration } from './external.js';
import { permissionToWrite } from './permission-questions.js';
import { type PreparedCall, type Tool, type ToolContext, ToolFailure } from './tool.js';

/**
 * A tool of a client. One that does the work of a built-in tool is described, checked and judged as that: its calls ask for
 * the same permissions, and what the client cannot do, the built-in tool does.
 */
export function clientTool(declaration: ToolDeclaration, builtin: readonly Tool[]): Tool {
  const external = externalTool(declaration);
  const own = declaration.actsForBuiltIn && builtin.find(({ name }) => name === declaration.name);
  if (!own) return external;
  return {
    ...own,
    source: 'custom',
    overridesBuiltIn: true,
    isRepeatable: false,
    prepare: async (input, context) => {
      const prepared = await prepareFor(own, input, context);
      const isKept = prepared.type !== 'run' || (await staysHere(own.name, input, context));
      return isKept ? prepared : { ...prepared, isHandedOver: true };
    },
  };
}

/** In a sandbox, in the background, in the session's own directory, and where there is no text, the built-in tool works itself. */
async function staysHere(name: string, input: unknown, context: ToolContext): Promise<boolean> {
  const { path, mode } = isObject(input) ? input : {};
  if (mode === 'async') return true;
  if (typeof path !== 'string') return (await context.confinement?.()) !== undefined;
  const place = await locate(path, context);
  const isOwn =
    place.real === context.sessionDirectory || place.real.startsWith(`${context.sessionDirectory}/`);
  const hasText = place.kind === 'file' && !withoutText.has(extname(path).toLowerCase());
  return isOwn || (name === 'view' && !hasText);
}

const withoutText: ReadonlySet<string> = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp', '.pdf']);

/** What a client has of a file may not be on the disk: an edit that fits nothing there is asked about as it was written. */
async function prepareFor(own: Tool, input: unknown, context: ToolContext): Promise<PreparedCall> {
  if (own.name !== 'edit') return own.prepare(input, context);
  const failed = (error: unknown) => {
    if (!(error instanceof ToolFailure) || !unlikeDisk.has(error.message)) throw error;
    return questionOfPiece(input, context);
  };
  let questions: PreparedCall['questions'];
  let prepared: PreparedCall | undefined;
  try {
    prepared = await own.prepare(input, context);
    questions = prepared.questions;
  } catch (error) {
    questions = await failed(error);
  }
  const later = (questions ?? []).map((question) =>
    typeof question === 'function' ? orPiece(question, failed) : question,
  );
  const run = async () => {
    throw new ToolFailure('No match found: old_str is not in the file; no changes made', 'No match found');
  };
  return prepared ? { ...prepared, questions: later } : { type: 'run', questions: later, run };
}

const unlikeDisk: ReadonlySet<string> = new Set(['No match found', 'Multiple matches found']);

function orPiece(
  ask: LaterQuestion,
  failed: (error: unknown) => Promise<readonly (PermissionQuestion | LaterQuestion)[]>,
): LaterQuestion {
  return async () => {
    try {
      return await ask();
    } catch (error) {
      const last = (await failed(error)).at(-1);
      if (last === undefined) throw error;
      return typeof last === 'function' ? last() : last;
    }
  };
}

async function questionOfPiece(
  input: unknown,
  context: ToolContext,
): Promise<readonly (PermissionQuestion | LaterQuestion)[]> {
  const { path, old_str: oldText = '', new_str: newText = '' } = input as Readonly<Record<string, string>>;
  const place = await locate(path ?? '', context);
  return permissionToWrite(place, async () => ({
    intention: 'Edit file',
    diff: await changeDiff({
      path: place.path,
      before: Buffer.from(oldText),
      after: Buffer.from(newText),
    }),
  }));
}
