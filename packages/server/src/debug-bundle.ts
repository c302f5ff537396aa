import { type FileHandle, mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Methods, ParsedParams, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { filesBelow } from './bundle-files.js';
import type { ServerEnvironment } from './environment.js';
import { Refusal } from './failure.js';
import { type Redaction, type Redactor, writeRedacted } from './redacted-lines.js';
import { packDirectory } from './tar.js';

type CollectLogsParams = ParsedParams<Methods['session.debug.collectLogs']>;
type Bundle = Result<Methods['session.debug.collectLogs']>;
type Entry = NonNullable<CollectLogsParams['additionalEntries']>[number];

interface Parts {
  readonly session: Session;
  readonly environment: ServerEnvironment;
  readonly signal: AbortSignal;
}

/** Writes what helps to find a fault of a session where the client wants it, with its secrets redacted. Throws Refusal. */
export async function collectLogs(params: CollectLogsParams, parts: Parts): Promise<Bundle> {
  const { destination } = params;
  const { workingDirectory } = parts.environment;
  if (destination.kind === 'directory') {
    const path = resolve(workingDirectory, destination.outputDirectory);
    await mkdir(path, { recursive: true, mode: 0o700 }).catch(refuse);
    return { kind: 'directory', path, ...(await new Collection(path, parts).collect(params)) };
  }
  const target = resolve(workingDirectory, destination.outputPath);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 }).catch(refuse);
  const stage = await mkdtemp(join(dirname(target), `.${basename(target)}-`)).catch(refuse);
  try {
    const collected = await new Collection(stage, parts).collect(params);
    const names = collected.entries.map(({ bundlePath }) => bundlePath);
    const isKept = destination.noOverwrite ?? false;
    const path = await packDirectory({ directory: stage, names, target, isKept }).catch(refuse);
    return { kind: 'archive', path, ...collected };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** What is gathered in one directory. */
class Collection {
  private readonly entries: Bundle['entries'][number][] = [];
  private readonly skipped: NonNullable<Bundle['skippedEntries']>[number][] = [];
  private readonly taken = new Set<string>();
  private readonly redactor: Redactor;

  constructor(
    private readonly directory: string,
    private readonly parts: Parts,
  ) {
    this.redactor = parts.environment.redactor?.() ?? { text: (text) => text, value: (value) => value };
  }

  async collect({
    include = {},
    additionalEntries = [],
  }: CollectLogsParams): Promise<Pick<Bundle, 'entries' | 'skippedEntries'>> {
    const { events = true, processLogs = true, eventsPath, currentProcessLogPath: log } = include;
    if (events && eventsPath === undefined) await this.addEvents();
    if (events && eventsPath !== undefined)
      await this.addFile(
        { path: eventsPath, bundlePath: 'events.jsonl', redaction: 'events-jsonl' },
        'events',
      );
    if (processLogs && log !== undefined)
      await this.addFile({ path: log, bundlePath: 'process.log', redaction: 'plain-text' }, 'process-log');
    else if (processLogs) this.skipped.push({ bundlePath: 'process.log', reason: noProcessLog });
    for (const entry of additionalEntries) await this.add(entry);
    return {
      entries: this.entries,
      ...(this.skipped.length > 0 && { skippedEntries: this.skipped }),
    };
  }

  private async addEvents(): Promise<void> {
    const { session } = this.parts;
    async function* lines() {
      for await (const batch of session.read())
        for (const { isPublic, json } of batch) if (isPublic) yield json;
    }
    await this.write('events.jsonl', { lines: lines(), redaction: 'events-jsonl', source: 'events' });
  }

  private async add(entry: Entry): Promise<void> {
    const { kind, path, bundlePath, redaction = 'plain-text', required = false } = entry;
    if (kind === 'file') return this.addFile({ path, bundlePath, redaction, required }, 'additional');
    const { workingDirectory } = this.parts.environment;
    try {
      for (const name of await filesBelow(resolve(workingDirectory, path)))
        await this.addFile(
          { path: join(path, name), bundlePath: `${bundlePath}/${name}`, redaction, required },
          'additional',
        );
    } catch (error) {
      this.skip({ path, bundlePath, required }, error);
    }
  }

  private async addFile(
    file: {
      readonly path: string;
      readonly bundlePath: string;
      readonly redaction: Redaction;
      readonly required?: boolean;
    },
    source: Bundle['entries'][number]['source'],
  ): Promise<void> {
    const { path, bundlePath, redaction } = file;
    const at = resolve(this.parts.environment.workingDirectory, path);
    try {
      const { size } = await fileAt(at);
      if (size > mostBytes) throw new Error(`it has ${size} bytes, at most ${mostBytes} are taken`);
      const handle = await open(at);
      try {
        await this.write(bundlePath, { lines: linesOf(handle), redaction, source });
      } finally {
        await handle.close();
      }
    } catch (error) {
      this.skip(file, error);
    }
  }

  private async write(
    bundlePath: string,
    what: {
      readonly lines: AsyncIterable<string>;
      readonly redaction: Redaction;
      readonly source: Bundle['entries'][number]['source'];
    },
  ): Promise<void> {
    const place = this.placeOf(bundlePath);
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    const { redactor } = this;
    const { signal } = this.parts;
    const sizeBytes = await writeRedacted(place, what.lines, { redaction: what.redaction, redactor, signal });
    this.entries.push({ bundlePath, source: what.source, sizeBytes });
  }

  /** A name within the bundle leads nowhere else. Throws Refusal. */
  private placeOf(bundlePath: string): string {
    const names = bundlePath.split('/');
    const isStrange = names.some((name) => !/^[^\\/\0]{1,200}$/.test(name) || name === '.' || name === '..');
    if (isStrange || names.length > mostLevels)
      throw new Refusal(`'bundlePath' ${JSON.stringify(bundlePath)} is no relative path with '/'`);
    if (this.taken.has(bundlePath))
      throw new Refusal(`'bundlePath' ${JSON.stringify(bundlePath)} comes twice`);
    if (this.taken.size >= mostFiles) throw new Refusal(`A bundle has at most ${mostFiles} files`);
    this.taken.add(bundlePath);
    return join(this.directory, ...names);
  }

  private skip(
    { path, bundlePath, required }: { path: string; bundlePath: string; required?: boolean },
    error: unknown,
  ): void {
    this.parts.signal.throwIfAborted();
    if (error instanceof Refusal) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    if (required) throw new Refusal(`${path} could not be collected: ${reason}`);
    this.skipped.push({ bundlePath, path, reason });
  }
}

/** Begins to read when the first line is asked for: lines that come before are lost. */
async function* linesOf(file: FileHandle): AsyncIterable<string> {
  yield* file.readLines();
}

const noProcessLog = 'The process writes its log to its standard error output, and to no file';
const mostBytes = 64 * 1024 * 1024;
const mostFiles = 2000;
const mostLevels = 32;

/** A pipe or a device would never end. */
async function fileAt(path: string) {
  const found = await stat(path);
  if (!found.isFile()) throw new Error('it is no file');
  return found;
}

function refuse(error: unknown): never {
  throw new Refusal(error instanceof Error ? error.message : String(error));
}
