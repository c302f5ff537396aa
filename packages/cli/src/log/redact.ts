/** Takes secrets out of what users see and files keep: known values, values of names that mean a secret, and forms of secrets. */
export class Redactor {
  /** The longest first: what is left of a longer one would show when a shorter one in it was covered before. */
  private readonly secrets: string[] = [];
  private readonly known = new Set<string>();

  constructor(...secrets: readonly (string | undefined)[]) {
    this.register(...secrets);
  }

  /** Never to be shown from now on. Short values are let pass: they would take everyday words away. */
  register(...secrets: readonly (string | undefined)[]): void {
    for (const secret of secrets) {
      if (secret === undefined || secret.length < shortest || this.known.has(secret)) continue;
      this.known.add(secret);
      const shorter = this.secrets.findIndex(({ length }) => length < secret.length);
      this.secrets.splice(shorter === -1 ? this.secrets.length : shorter, 0, secret);
    }
  }

  /** The text with its secrets covered. */
  text(text: string): string {
    let covered = text;
    for (const secret of this.secrets) covered = covered.replaceAll(secret, cover);
    for (const form of secretForms) covered = covered.replace(form, `$1${cover}`);
    return covered;
  }

  /** A copy with its secrets covered, at any depth; what a name that means a secret held is a secret everywhere else too. */
  value(value: unknown, name = ''): unknown {
    if (typeof value === 'string') {
      if (!secretName.test(name)) return this.text(value);
      this.register(value);
      return cover;
    }
    if (Array.isArray(value)) return value.map((each) => this.value(each, name));
    if (typeof value !== 'object' || value === null) return value;
    const isOfSecrets = secretTable.test(name);
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        isOfSecrets && !secretName.test(key) && !openHeader.test(key) ? covered(each) : this.value(each, key),
      ]),
    );
  }
}

/** A redactor that knows what the environment holds under a name that means a secret, and these. */
export function redactorFor(
  environment: Readonly<Record<string, string | undefined>>,
  ...others: readonly (string | undefined)[]
): Redactor {
  const named = Object.entries(environment).filter(([name]) => secretVariable.test(name));
  return new Redactor(...named.map(([, value]) => value), ...others);
}

const secretVariable = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)$/;
const cover = '[redacted]';
const shortest = 6;

/** Names whose values must stay hidden; counts such as `inputTokens` are not among them. */
const secretName = /(?:api[-_]?key|authorization|cookie|password|secret|token)$/i;

/** Headers and variables may be secret whatever they are called. Elsewhere their values may be everyday words, and stay. */
const secretTable = /^(?:\w*headers|env)$/i;

/** Headers whose values are no secret. */
const openHeader =
  /^(?:accept(?:-\w+)*|content-(?:type|length|encoding)|user-agent|traceparent|tracestate|(?:x-)?request-id|retry-after)$/i;

/** The same shape without a word of it. */
function covered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(covered);
  return value === null || value === undefined ? value : cover;
}

/** Forms that only secrets have; what stands before them is kept. */
const secretForms: readonly RegExp[] = [
  /(\bbearer\s+)[\w.~+/=-]{6,}/gi,
  /(\b)(?:gh[pousr]_|github_pat_|sk-|xox[abprs]-)[\w-]{16,}/g,
  // Of an address the scheme is not looked for: a long text of dots would be read from each of them on.
  /(:\/\/)[^\s/:@]+:[^\s/@]+(?=@)/g,
];
