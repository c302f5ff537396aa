/** What a shell command would do, as far as its text says. */
export interface ShellReading {
  /** Every command that would run, each name once; `readOnly` only when that is certain. */
  readonly commands: readonly { readonly identifier: string; readonly readOnly: boolean }[];
  /** Each command where it stands, in the order of the text. */
  readonly segments: readonly Segment[];
  readonly possiblePaths: readonly string[];
  readonly possibleUrls: readonly string[];
  readonly hasWriteFileRedirection: boolean;
  /** Why the text says less than it does; where there is any, nothing is read-only and nothing may be approved in advance. */
  readonly problems: readonly string[];
  /** An approval of all its commands' names covers this one and its like. */
  readonly canOfferSessionApproval: boolean;
  /** Some of what would run cannot be told from the text. */
  readonly hidesCommands: boolean;
}

/** One command of the text. */
export interface Segment {
  readonly identifier: string;
  readonly fullCommandText: string;
  /** Its name and arguments; those known only when it runs, as they were written. */
  readonly words: readonly string[];
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
  private writesFile = false;
  private hasUnknownWords = false;
  private hidesCommands = false;

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
  writes(): void {
    this.writesFile = true;
  }

  /** A word's value is known only when it runs. */
  unknownWord(): void {
    this.hasUnknownWords = true;
  }

  /** What runs here, or some of it, is known only when it runs. */
  hides(): void {
    this.hidesCommands = true;
  }

  reading(): ShellReading {
    const isUnderstood = this.problems.size === 0;
    const mayBeReadOnly = isUnderstood && !this.writesFile;
    const commands = new Map<string, boolean>();
    for (const { identifier, readOnly } of this.found)
      commands.set(identifier, mayBeReadOnly && readOnly && commands.get(identifier) !== false);
    return {
      commands: [...commands].map(([identifier, readOnly]) => ({ identifier, readOnly })),
      segments: this.found.map(({ readOnly: _, ...segment }) => segment),
      possiblePaths: [...this.paths],
      possibleUrls: [...this.urls],
      hasWriteFileRedirection: this.writesFile,
      problems: [...this.problems],
      canOfferSessionApproval: isUnderstood && !this.writesFile && !this.hasUnknownWords && commands.size > 0,
      hidesCommands: this.hidesCommands,
    };
  }
}
