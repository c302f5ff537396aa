import { ReadingBudget } from './bounds.js';
import type { Understood } from './programs/program.js';

/** What a shell command would do, as far as its text says. */
export interface ShellReading {
  /** Every command that would run, each name once; `readOnly` only when that is certain. */
  readonly commands: readonly { readonly identifier: string; readonly readOnly: boolean }[];
  /** Each command where it stands, in the order of the text. */
  readonly segments: readonly Segment[];
  readonly possiblePaths: readonly string[];
  readonly possibleUrls: readonly string[];
  readonly hasWriteFileRedirection: boolean;
  /** What redirections write, as it was written. */
  readonly writtenFiles: readonly string[];
  /** Each of its commands ends before the next one begins, and none runs twice. */
  readonly isOrdered: boolean;
  /** Why the text says less than it does; where there is any, nothing is read-only and nothing may be approved in advance. */
  readonly problems: readonly string[];
  /** An approval of all its commands' names covers this one and its like. */
  readonly canOfferSessionApproval: boolean;
  /** The text does not say all that would run. */
  readonly hidesCommands: boolean;
  /** There is more of it than is read. */
  readonly isUnread: boolean;
  /** Programs that the table of programs does not have: an approval of one is for any use of it. */
  readonly unknownPrograms: readonly string[];
}

/** One command of the text. */
export interface Segment {
  readonly identifier: string;
  readonly fullCommandText: string;
  /** Its name and arguments; those known only when it runs, as they were written. */
  readonly words: readonly string[];
  /** What it does, when all of its words are understood. */
  readonly call?: Understood;
  /** Those of its words that stand for names of files. */
  readonly wild?: readonly string[];
  /** Some of its words are known only when it runs. */
  readonly isOpen?: boolean;
}

interface Found extends Segment {
  readonly readOnly: boolean;
}

/** Gathers what a walk over a command finds. */
export class Findings {
  private readonly found: Found[] = [];
  private readonly paths = new Set<string>();
  private readonly urls = new Set<string>();
  private readonly problems = new Set<string>();
  private readonly written = new Set<string>();
  private isOrdered = true;
  private hasUnknownWords = false;
  private hidesCommands = false;
  private isUnread = false;
  private readonly unknown = new Set<string>();
  readonly budget = new ReadingBudget();

  command(found: Found): void {
    this.found.push(found);
  }

  path(path: string): void {
    this.paths.add(path);
  }

  url(url: string): void {
    this.urls.add(url);
  }

  problem(reason: string): void {
    this.problems.add(reason);
  }

  /** A file is written by redirection. */
  writes(file: string): void {
    this.written.add(file);
  }

  /** Some of it runs beside the rest, or more than once. */
  unordered(): void {
    this.isOrdered = false;
  }

  /** A word's value is known only when it runs. */
  unknownWord(): void {
    this.hasUnknownWords = true;
  }

  /** The table of programs has not got this one. */
  unknownProgram(name: string): void {
    this.unknown.add(name);
  }

  /** What is left of it is not read. */
  unread(): void {
    this.isUnread = true;
    this.hidesCommands = true;
    this.problems.add('it is too long to be read');
  }

  /** What runs here, or some of it, is known only when it runs. */
  hides(): void {
    this.hidesCommands = true;
  }

  reading(): ShellReading {
    const isUnderstood = this.problems.size === 0;
    const writesFile = this.written.size > 0;
    const mayBeReadOnly = isUnderstood && !writesFile;
    const commands = new Map<string, boolean>();
    for (const { identifier, readOnly } of this.found)
      commands.set(identifier, mayBeReadOnly && readOnly && commands.get(identifier) !== false);
    return {
      commands: [...commands].map(([identifier, readOnly]) => ({ identifier, readOnly })),
      segments: this.found.map(({ readOnly: _, ...segment }) => segment),
      possiblePaths: [...this.paths],
      possibleUrls: [...this.urls],
      hasWriteFileRedirection: writesFile,
      writtenFiles: [...this.written],
      isOrdered: this.isOrdered,
      problems: [...this.problems],
      canOfferSessionApproval: isUnderstood && !writesFile && !this.hasUnknownWords && commands.size > 0,
      hidesCommands: this.hidesCommands,
      isUnread: this.isUnread,
      unknownPrograms: [...this.unknown],
    };
  }
}
