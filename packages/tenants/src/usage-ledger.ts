import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** What a tenant has used of a day, which is one of UTC. */
export interface DayUse {
  readonly day: string;
  readonly tokens: number;
  /** In US dollars, as far as prices are known. */
  readonly cost: number;
}

/** The day that it is. */
function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** What each tenant has used today; every addition is on the disk when the call returns. */
export class UsageLedger {
  private readonly used = new Map<string, DayUse>();

  constructor(private readonly file: string) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    for (const { tenant, ...use } of linesOf(file)) if (use.day === today()) this.sum(tenant, use);
    this.rewrite();
  }

  of(tenant: string): DayUse {
    const known = this.used.get(tenant);
    return known?.day === today() ? known : { day: today(), tokens: 0, cost: 0 };
  }

  add(tenant: string, use: DayUse): void {
    this.sum(tenant, use);
    append(this.file, { tenant, ...use });
  }

  private sum(tenant: string, { day, tokens, cost }: DayUse): void {
    const before = this.used.get(tenant);
    const isSame = before?.day === day;
    this.used.set(tenant, {
      day,
      tokens: tokens + (isSame ? before.tokens : 0),
      cost: cost + (isSame ? before.cost : 0),
    });
  }

  /** One line for each tenant, so that the file does not grow for ever. */
  private rewrite(): void {
    const draft = `${this.file}.new`;
    closeSync(openSync(draft, 'w', 0o600));
    for (const [tenant, use] of this.used) append(draft, { tenant, ...use });
    renameSync(draft, this.file);
  }
}

type Line = DayUse & { readonly tenant: string };

function append(file: string, line: Line): void {
  const descriptor = openSync(file, 'a', 0o600);
  try {
    writeSync(descriptor, `${JSON.stringify(line)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A line that was cut off by a crash is none. */
function linesOf(file: string): readonly Line[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    // There is none yet.
  }
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Line];
    } catch {
      return [];
    }
  });
}
