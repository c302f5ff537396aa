import type { EventData } from '@groundcrew/protocol';
import {
  type Assignment,
  type Command,
  forEachChild,
  type ParameterExpansionPart,
  parse,
  type Redirect,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { recordArguments } from './shell/arguments.js';
import { identify, isCoveredByName } from './shell/command-identity.js';
import { type KnownWord, readWord } from './shell/command-word.js';
import type { Understood } from './shell/programs/program.js';
import { isInert, isInertReader, isInTable, understand } from './shell/programs/table.js';
import { Findings, type ShellReading } from './shell/reading.js';
import { runByOptions } from './shell/running-options.js';
import { isTransparent } from './shell/transparent-wrappers.js';
import type { Wrapped } from './shell/wrapped-commands.js';
import { hidesWhatItRuns, readsCommands, unwrap } from './shell/wrappers.js';

/** The question that a command is put to users and rules in. */
export function shellRequest({
  command,
  intention,
}: {
  readonly command: string;
  readonly intention: string;
}): ShellRequest {
  const reading = readShellCommand(command);
  const request: ShellRequest = {
    kind: 'shell',
    fullCommandText: command,
    intention,
    commands: [...reading.commands],
    commandSegments: reading.segments.map(({ identifier, fullCommandText }) => ({
      identifier,
      fullCommandText,
    })),
    possiblePaths: [...reading.possiblePaths],
    possibleUrls: reading.possibleUrls.map((url) => ({ url })),
    hasWriteFileRedirection: reading.hasWriteFileRedirection,
    ...warningOf(reading),
    canOfferSessionApproval: reading.canOfferSessionApproval,
  };
  readings.set(request, { text: command, reading });
  return request;
}

/** What was read for this request; a request that came another way is read again. */
export function readingOf(request: ShellRequest): ShellReading {
  const known = readings.get(request);
  return known?.text === request.fullCommandText ? known.reading : readShellCommand(request.fullCommandText);
}

/** Whether `readingOf` has nothing left to do. */
export function isRead(request: ShellRequest): boolean {
  return readings.get(request)?.text === request.fullCommandText;
}

/** A message may hold many commands: each is asked about and then judged, more than once, after all others were read. */
const readings = new WeakMap<ShellRequest, ReadText>();

/** An approval of a program that the table does not have is for whatever it can do. */
function warningOf({ unknownPrograms, canOfferSessionApproval }: ShellReading): {
  readonly warning?: string;
} {
  if (!canOfferSessionApproval || unknownPrograms.length === 0) return {};
  const names = unknownPrograms.map((name) => `\`${name}\``).join(', ');
  return {
    warning: `The options of ${names} are not known. Approve this text alone, or any use of ${names} with plain words.`,
  };
}

type ShellRequest = Extract<EventData<'permission.requested'>['permissionRequest'], { kind: 'shell' }>;

/** Reads a command without running it. It informs users and rules; it is no sandbox. */
export function readShellCommand(text: string): ShellReading {
  if (latest?.text !== text) {
    const findings = new Findings();
    readText(text, { findings, depth: 0 });
    latest = { text, reading: findings.reading() };
  }
  return latest.reading;
}

/** A command may be explained and asked about in one breath. */
let latest: ReadText | undefined;

interface ReadText {
  readonly text: string;
  readonly reading: ShellReading;
}

/** One text being walked: the command itself, or text that one of its commands will run. */
interface Walk {
  readonly findings: Findings;
  /** What positions of the tree point into. */
  readonly source: string;
  readonly depth: number;
}

const deepestText = 8;
const notRead = 'it could not be read';

function readText(text: string, { findings, depth }: Omit<Walk, 'source'>): void {
  if (depth > deepestText) {
    findings.problem('it is nested too deeply');
    findings.hides();
    return;
  }
  if (!findings.budget.takesText(text)) {
    findings.unread();
    if (depth === 0) unreadable(text, findings);
    return;
  }
  try {
    const script = parse(text);
    visit(script, { findings, source: text, depth });
    if (script.errors?.length || script.commands.length === 0) unreadable(text, findings);
  } catch (error) {
    // Text can be nested more deeply than any walk over it may go.
    if (!(error instanceof RangeError)) throw error;
    unreadable(text, findings);
  }
}

/** What cannot be read stands in the list as a whole. */
function unreadable(text: string, findings: Findings): void {
  const isBlank = text.trim() === '' || /^\s*#[^\n]*$/.test(text);
  if (isBlank) return;
  findings.problem(notRead);
  findings.hides();
  findings.command({ identifier: text, fullCommandText: text, words: [text], readOnly: false });
}

function visit(node: SyntaxNode, walk: Walk): void {
  const { findings } = walk;
  const reason = problemOf(node);
  if (reason !== undefined) findings.problem(reason);
  if (reason !== undefined && mayRunUnseen(node)) findings.hides();
  if (node.type === 'Script' && node.errors?.length) findings.problem(notRead);
  if (isBeside(node)) findings.unordered();
  if (node.type === 'Command') visitCommand(node, walk);
  if (node.type === 'Redirect') visitRedirect(node, walk);
  if (node.type === 'Word' && readWord(node).kind === 'dynamic') findings.unknownWord();
  // The text of an escaped backtick substitution is not the text around it.
  const hasOwnSource = node.type === 'Script' && node.source !== undefined;
  const inner = hasOwnSource ? { ...walk, source: node.source } : walk;
  forEachChild(node, (child) => visit(child, inner));
}

function visitCommand(command: Command, walk: Walk): void {
  if (!command.name) return;
  if (/^[ \t]*\(/.test(walk.source.slice(command.end))) walk.findings.problem(notRead);
  const words = command.args.map(readArgument);
  const fullCommandText = walk.source.slice(command.pos, command.end);
  recordCommand(readWord(command.name), words, { ...walk, fullCommandText, end: command.end });
  if (readsCommands(command.name.value, words)) readInput(command, walk);
}

/** What a shell is given to read is commands; what comes from elsewhere is not known. */
function readInput({ redirects }: Command, { findings, depth }: Walk): void {
  const texts = redirects.map(inputText);
  for (const text of texts) if (text !== undefined) readText(text, { findings, depth: depth + 1 });
  if (texts.length === 0 || texts.includes(undefined)) findings.hides();
}

function inputText(redirect: Redirection): string | undefined {
  if (redirect.type === 'HereDoc') return redirect.body.text;
  const word = redirect.type === 'HereString' && redirect.target ? readWord(redirect.target) : undefined;
  return word?.kind === 'literal' ? word.value : undefined;
}

/** `export PATH=…` has an assignment among its arguments. */
function readArgument(argument: Word | Assignment): KnownWord {
  if (argument.type === 'Word') return readWord(argument);
  return { value: argument.text, kind: 'dynamic', start: argument.pos };
}

interface CommandWalk extends Walk {
  readonly fullCommandText: string;
  /** Where it ends in the source; so does what it wraps. */
  readonly end: number;
}

function recordCommand(name: KnownWord, words: readonly KnownWord[], walk: CommandWalk): void {
  const { findings, fullCommandText } = walk;
  if (!findings.budget.takesWords(words.length)) {
    findings.unread();
    return;
  }
  const values = [name, ...words].map((word) => word.value);
  if (name.kind !== 'literal') {
    findings.problem(`the name of a command is known only when it runs: ${name.value}`);
    findings.hides();
    findings.command({
      identifier: name.value,
      fullCommandText,
      words: values,
      readOnly: false,
      isOpen: true,
    });
    // It may come to nothing, and then the next word is the name.
    recordWrapped({ type: 'words', words }, walk);
    return;
  }
  const { identifier, problem } = identify(name.value, words);
  if (problem !== undefined) findings.problem(problem);
  const call = understand(name.value, words);
  const isOpen = words.some(({ kind }) => kind === 'dynamic');
  if (!call && !isOpen && !isCoveredByName(name.value, words))
    findings.problem(`not all words of \`${name.value}\` are known to be harmless`);
  if (call?.beyondName !== undefined) findings.problem(call.beyondName);
  const wild = words.filter(({ kind }) => kind === 'glob').map(({ value }) => value);
  const readOnly = call?.role === 'reads' || isInertReader(name.value);
  findings.command({
    identifier,
    fullCommandText,
    words: values,
    readOnly,
    isOpen,
    wild,
    ...(call && { call }),
  });
  recordArguments(name.value, words, { findings, texts: call?.texts });
  recordInner(name.value, words, { ...walk, identifier, call });
}

/** What a command runs besides itself is read too; where that is not all of it, the text hides something. */
function recordInner(
  name: string,
  words: readonly KnownWord[],
  walk: CommandWalk & { readonly identifier: string; readonly call: Understood | undefined },
): void {
  const { findings } = walk;
  const wrapped = unwrap(name, words);
  const given = runByOptions(name, words);
  if (wrapped || given) findings.problem(`\`${name}\` runs or changes other commands`);
  else if (!isInTable(name)) findings.unknownProgram(walk.identifier);
  if (hidesWhatItRuns(name, words) || !isClear(name, words, { call: walk.call, wrapped })) findings.hides();
  for (const inner of [...(wrapped ?? []), ...(given ?? [])]) recordWrapped(inner, walk);
}

/** Whether nothing but the command itself runs, and what was read in its words. */
function isClear(
  name: string,
  words: readonly KnownWord[],
  found: {
    readonly call: Understood | undefined;
    readonly wrapped: readonly Wrapped[] | undefined;
  },
): boolean {
  if (isInert(name)) return true;
  if (found.call) return found.call.role !== 'runs';
  return found.wrapped !== undefined && isTransparent(name, words, found.wrapped);
}

function recordWrapped(wrapped: Wrapped, walk: CommandWalk): void {
  if (wrapped.type === 'unknown') {
    walk.findings.hides();
    return;
  }
  if (wrapped.type === 'text') {
    recordText(wrapped.text, walk);
    return;
  }
  const [name, ...words] = wrapped.words;
  if (!name) return;
  recordCommand(name, words, { ...walk, fullCommandText: walk.source.slice(name.start, walk.end) });
}

function recordText({ kind, value }: KnownWord, { findings, fullCommandText, depth }: CommandWalk): void {
  if (kind === 'literal') {
    readText(value, { findings, depth: depth + 1 });
    return;
  }
  findings.hides();
  findings.command({ identifier: value, fullCommandText, words: [value], readOnly: false });
}

const sinks = /^\/dev\/(?:null|stdout|stderr|tty|fd\/\d+)$/;

function visitRedirect(redirect: Redirect, { findings }: Walk): void {
  if (redirect.descriptor?.type === 'FileDescriptorVariable') findings.problem('it assigns a variable');
  const target = redirect.target && readWord(redirect.target);
  const isDuplicate = redirect.operator.endsWith('&') && /^(?:\d+-?|-)$/.test(target?.value ?? '');
  const isSink = target?.kind === 'literal' && sinks.test(target.value);
  if (!target || isDuplicate || isSink) return;
  const [, protocol, host, port] = /^\/dev\/(tcp|udp)\/([^/]+)\/(.+)$/.exec(target.value) ?? [];
  if (protocol !== undefined) {
    findings.url(`${protocol}://${host}:${port}`);
    findings.problem('it opens a connection');
    return;
  }
  const path = target.kind === 'dynamic' ? target.value.replaceAll('"', '') : target.value;
  findings.path(path);
  const reads = redirect.operator === '<' || redirect.operator === '<&';
  if (!reads) findings.writes(path);
}

/** Syntax by which commands run at the same time, or more than once. */
function isBeside(node: SyntaxNode): boolean {
  if (node.type === 'Pipeline') return node.commands.length > 1;
  if (node.type === 'Statement') return node.background === true;
  return repeating.has(node.type);
}

const repeating: ReadonlySet<string> = new Set([
  'For',
  'While',
  'Select',
  'ArithmeticFor',
  'Function',
  'Coproc',
  'ProcessSubstitution',
]);

/** Syntax whose effect on the commands around it the text does not show. */
function problemOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ArithmeticCommandExpansion':
    case 'ProcessSubstitution':
      return 'it substitutes the output of a command';
    case 'Function':
      return 'it defines a function';
    case 'Coproc':
      return 'it starts a coprocess';
    case 'Assignment':
      return 'it assigns a variable';
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
    case 'ArithmeticFor':
      return 'it evaluates arithmetic';
    case 'For':
    case 'Select':
      return /^[a-z]+\d*$/.test(node.name.value) ? undefined : 'it assigns a variable';
    case 'ParameterExpansion':
      return isPlainExpansion(node) ? undefined : 'it evaluates the value of a variable';
    case 'TestBinary':
      return /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator) ? 'it evaluates arithmetic' : undefined;
    case 'TestUnary':
      return /^-[vR]$/.test(node.operator) ? 'it evaluates the value of a variable' : undefined;
    default:
      return undefined;
  }
}

/** A variable with a plain small name changes no program; all else may run what its value says, or change what runs. */
function mayRunUnseen(node: SyntaxNode): boolean {
  switch (node.type) {
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return false;
    case 'Assignment':
      return node.index !== undefined || !/^[a-z][a-z\d]*$/.test(node.name ?? '');
    default:
      return true;
  }
}

/** `${x@P}`, `${!x}`, `${x[…]}`, `${x:=…}` and `${x:n}` run, look up, assign or calculate. */
function isPlainExpansion({ prefix, index, operation }: ParameterExpansionPart): boolean {
  if (prefix === '!' || index) return false;
  if (!operation) return true;
  if (operation.type === 'Default') return !operation.operator.endsWith('=');
  return operation.type === 'Remove' || operation.type === 'Replace' || operation.type === 'CaseModification';
}
