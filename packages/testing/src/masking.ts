import { realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { isJson } from './json.js';
import { maskNamed, type Secrets, secretCover, secretForms, wordStart } from './secrets.js';

/** What of a conversation is of one machine, one day or one run only. */
export interface MaskingOptions {
  /** Where the agent works; the process's working directory unless given. */
  readonly workingDirectory?: string;
  /** Other directories of this run, by the names that stand for them. */
  readonly directories?: Readonly<Record<string, string>>;
  /** Replaces what else differs from run to run, in requests only. */
  readonly normalise?: (text: string) => string;
}

/** A stretch of a text, and what stands for it. */
interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly mask: string;
}

/** The ids of one conversation by the order they turn up in, which is the same in every run. */
export type Numbering = Map<string, string>;

/** Takes out of texts what is of one machine, one day or one run, and puts it back in for another. */
export class Masking {
  private readonly places: ReadonlyMap<string, string>;
  private readonly directories: readonly (readonly [string, string])[];
  private readonly masksInAnswers: RegExp;
  private readonly normalise: (text: string) => string;
  private searching: Search | undefined;

  constructor(
    options: MaskingOptions,
    private readonly secrets: Secrets,
    private readonly now: () => number = Date.now,
  ) {
    this.places = placesOf(options);
    this.directories = pathsOf(this.places);
    this.masksInAnswers = new RegExp(literals(this.places), 'g');
    this.normalise = options.normalise ?? ((text) => text);
  }

  /** A text of a request: times, ids, directories and secrets are masked. */
  ofRequest(given: string, numbering: Numbering): string {
    const text = this.normalise(given);
    const present = presentAt(this.now());
    const maskOf = (found: Found) =>
      found.secret ?? found.directory ?? maskTime(found, present) ?? numbered(found, numbering);
    return maskedPieces([text], this.stretches(text, maskOf)).join('');
  }

  /** A text of a kept answer as the next request brings it back. */
  ofEcho(text: string, numbering: Numbering): string {
    return this.ofRequest(text.replace(this.masksInAnswers, unescaped), numbering);
  }

  /**
   * A text of an answer, in pieces: directories, secrets and the ids its request has are masked; all else is played
   * back as it was said. A piece never ends within a mask.
   */
  ofAnswer(pieces: readonly string[], numbering: ReadonlyMap<string, string>): readonly string[] {
    const text = pieces.join('');
    const masks = (found: Found) =>
      found.literal ?? found.secret ?? found.directory ?? (found.id && numbering.get(found.id.toLowerCase()));
    const stretches = this.stretches(text, masks);
    return stretches.length === 0 ? pieces : maskedPieces(pieces, stretches);
  }

  /** The text of a kept answer as this run would have it. */
  fill(text: string, numbering: ReadonlyMap<string, string>): string {
    const ids = new Map([...numbering].map(([id, mask]) => [mask, id]));
    return text.replace(this.masksInAnswers, (mask) =>
      mask.startsWith('$$') ? mask.slice(1) : (this.places.get(mask) ?? ids.get(mask) ?? mask),
    );
  }

  /** Any JSON value of a request, its texts masked; what a name that means a secret holds is a secret. */
  value(value: unknown, numbering: Numbering, name = ''): unknown {
    if (typeof value === 'string')
      return secretName.test(name) ? secretCover : this.ofRequest(value, numbering);
    if (Array.isArray(value)) return value.map((each) => this.value(each, numbering, name));
    if (!isJson(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, this.value(each, numbering, key)]),
    );
  }

  /** A whole file, once more: no known secret leaves. */
  lastCheck(text: string): string {
    return this.secrets.known().reduce((rest, secret) => rest.replaceAll(secret, secretCover), text);
  }

  private stretches(text: string, maskOf: (found: Found) => string | undefined): readonly Stretch[] {
    return this.findIn(text).flatMap(({ start, end, found }) => {
      const mask = maskOf(found);
      return mask === undefined || mask === text.slice(start, end) ? [] : [{ start, end, mask }];
    });
  }

  /** Looked for once: a conversation is sent again with every call. */
  private findIn(text: string): readonly Place[] {
    const { pattern, searched } = this.search();
    const known = searched.get(text);
    if (known) return known;
    const found = [...text.matchAll(pattern)].map(
      ({ 0: matched, index, groups = {} }): Place => ({
        start: index,
        end: index + matched.length,
        found: this.foundIn(matched, groups),
      }),
    );
    if (searched.size >= mostRemembered) searched.clear();
    searched.set(text, found);
    return found;
  }

  /** Made again when there are more secrets to look for. */
  private search(): Search {
    const { size: knows } = this.secrets;
    if (this.searching?.knows === knows) return this.searching;
    const known = this.secrets.known().map(escaped);
    const paths = this.directories.map(([path]) => escaped(path)).join('|');
    const sorts = [
      `(?<literal>${literals(this.places)})`,
      `(?<secret>${[...known, ...secretForms].join('|')})`,
      `(?<directory>${String.raw`(?:(?<=\\[nrtbf])|(?<![\w.~$-]))(?:${paths})(?![\w-]|\.\w)`})`,
      `(?<id>${wordStart}${uuid})`,
      `(?<time>${wordStart}(?:${times.join('|')}))`,
    ];
    this.searching = { knows, pattern: new RegExp(sorts.join('|'), 'g'), searched: new Map() };
    return this.searching;
  }

  private foundIn(matched: string, groups: Readonly<Record<string, string | undefined>>): Found {
    return {
      ...(groups.literal !== undefined && { literal: `$${matched}` }),
      ...(groups.secret !== undefined && { secret: secretCover }),
      ...(groups.directory !== undefined && {
        directory: this.directories.find(([path]) => path === matched)?.[1] ?? matched,
      }),
      ...(groups.id !== undefined && { id: matched }),
      ...(groups.time !== undefined && { time: matched }),
    };
  }
}

/** What is looked for while so many secrets are known, and the texts that were searched for it. */
interface Search {
  readonly knows: number;
  readonly pattern: RegExp;
  readonly searched: Map<string, readonly Place[]>;
}

const mostRemembered = 5000;

/** Something found in a text. */
interface Place {
  readonly start: number;
  readonly end: number;
  readonly found: Found;
}

/** What was found at a place, by its sort. */
interface Found {
  readonly literal?: string;
  readonly secret?: string;
  readonly directory?: string;
  readonly id?: string;
  readonly time?: string;
}

const aDay = 24 * 60 * 60 * 1000;
const uuid = String.raw`[\da-fA-F]{8}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{4}-[\da-fA-F]{12}\b`;
const times: readonly string[] = [
  String.raw`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`,
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d? [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT`,
  String.raw`\d{4}-\d\d-\d\d\b`,
  String.raw`1\d{12}\b`,
];
const secretName = /(?:api[-_]?key|authorization|cookie|credential|password|secret|token)$/i;

/** Directories by their masks. */
function placesOf({ workingDirectory, directories }: MaskingOptions): ReadonlyMap<string, string> {
  const named = {
    workdir: workingDirectory ?? process.cwd(),
    home: homedir(),
    tmp: tmpdir(),
    ...directories,
  };
  const known = Object.entries(named).filter(([, path]) => path.length > 1);
  return new Map(known.map(([name, path]) => [maskNamed(name), path]));
}

/** Masks by paths, the longest first; what a link leads to is the same place. */
function pathsOf(places: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...places]
    .flatMap(([mask, path]) => [...new Set([path, realPath(path)])].map((each) => [each, mask] as const))
    .sort(([one], [other]) => other.length - one.length);
}

/** Matches masks, and text that looks like one; a second dollar marks text that only looks like one. */
function literals(places: ReadonlyMap<string, string>): string {
  const names = [...places.keys()].map((mask) => escaped(mask.slice(2, -1)));
  return String.raw`\$+\{(?:${names.join('|')}|uuid-\d+)\}`;
}

function unescaped(mask: string): string {
  return mask.startsWith('$$') ? mask.slice(1) : mask;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Now, and the days it is by the clocks here and in Greenwich. */
interface Present {
  readonly now: number;
  readonly days: readonly string[];
}

function presentAt(now: number): Present {
  const offset = new Date(now).getTimezoneOffset() * 60_000;
  return { now, days: [now, now - offset].map((each) => new Date(each).toISOString().slice(0, 10)) };
}

/** Only times about now: any other one was said on purpose. */
function maskTime({ time }: Found, { now, days }: Present): string | undefined {
  if (time === undefined) return undefined;
  if (time.length === 10) return days.includes(time) ? maskNamed('today') : undefined;
  const at = /^\d+$/.test(time) ? Number(time) : Date.parse(time);
  return Math.abs(at - now) <= aDay ? maskNamed('time') : undefined;
}

function numbered({ id }: Found, numbering: Numbering): string | undefined {
  if (id === undefined) return undefined;
  const known = numbering.get(id.toLowerCase());
  if (known !== undefined) return known;
  const mask = maskNamed(`uuid-${numbering.size + 1}`);
  numbering.set(id.toLowerCase(), mask);
  return mask;
}

function maskedPieces(pieces: readonly string[], stretches: readonly Stretch[]): readonly string[] {
  const text = pieces.join('');
  const done: string[] = [];
  let at = 0;
  let boundary = 0;
  let next = 0;
  for (const piece of pieces) {
    boundary += piece.length;
    let said = '';
    for (let stretch = stretches[next]; stretch && stretch.start < boundary; stretch = stretches[next]) {
      said += text.slice(at, stretch.start) + stretch.mask;
      at = stretch.end;
      next += 1;
    }
    if (at < boundary) {
      said += text.slice(at, boundary);
      at = boundary;
    }
    if (said !== '') done.push(said);
  }
  return done;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
}
