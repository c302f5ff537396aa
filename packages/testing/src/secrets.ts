/** What stands in a cassette for something of this name. */
export function maskNamed(name: string): string {
  return `\${${name}}`;
}

/** What takes the place of a secret. */
export const secretCover = maskNamed('secret');

/** Where a word begins; a line break that JSON has written as two characters is none of the word. */
export const wordStart = String.raw`(?:(?<=\\[nrtbf])|\b)`;

/** Forms that only secrets have. What stands before them is looked at and kept. */
export const secretForms: readonly string[] = [
  // Keys of well-known services.
  ...[
    String.raw`sk-[\w-]{12,}`,
    String.raw`(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|xox[abeoprs]-)[\w-]{12,}`,
    String.raw`(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`AIza[\w-]{30,}`,
    String.raw`eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`,
  ].map((form) => wordStart + form),
  String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
  // After a word that announces one.
  String.raw`(?<=\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC)\s+)(?:[\w.~+/=-]{16,}|(?=[\w.~+/=-]*\d)[\w.~+/=-]{6,})`,
  // In addresses: a password, and a parameter of a name that means a secret.
  String.raw`(?<=\b[a-z][a-z\d+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)`,
  String.raw`(?<=[?&](?:[\w.-]*(?:key|token|secret|password|signature)|sig|code)=)[^\s&#"'<>]+`,
  // In JSON, below a name that means a secret.
  String.raw`(?<="[\w-]*(?:api[-_]?key|authorization|cookie|credential|passwd|password|secret|token)"\s*:\s*")(?:[^"\\]|\\.)+(?=")`,
  // In settings and headers: what is random enough, beside a name that means a secret.
  String.raw`(?<=\b[\w-]*(?:api[-_]?key|authorization|cookie|passwd|password|secret|token)['"]?\s*[:=]\s*['"]?)(?=[\w+/=.-]*\d)(?=[\w+/=.-]*[A-Za-z])[\w+/=.-]{12,}`,
];

/** Values that must not be kept, wherever they turn up: found by the names of headers and variables, and said outright. */
export class Secrets {
  private readonly values = new Set<string>();
  private readonly searched = new Set<string>();

  constructor(
    said: readonly string[],
    environment: Readonly<Record<string, string | undefined>> = process.env,
  ) {
    for (const value of said) this.add(value);
    for (const [name, value] of Object.entries(environment))
      if (value !== undefined && secretVariable.test(name)) this.add(value);
  }

  /** Learns what the headers of a call or an answer hold. */
  learn(headers: Iterable<readonly [string, string]>): void {
    for (const [name, value] of headers) {
      if (!secretHeader.test(name)) continue;
      if (/cookie/i.test(name)) for (const each of cookieValues(value)) this.add(each);
      else this.addCredential(value);
    }
  }

  /** Learns what a text shows as a secret: it is one where nothing shows it, too. Plain words are let pass. */
  find(text: string): void {
    if (this.searched.has(text)) return;
    this.searched.add(text);
    for (const [found] of text.matchAll(anyForm))
      if (found.length >= 8 && /[^A-Za-z]/.test(found)) this.add(found);
  }

  get size(): number {
    return this.values.size;
  }

  /** Longest first, so that none is hidden by a part of it. */
  known(): readonly string[] {
    return [...this.values].sort((one, other) => other.length - one.length);
  }

  private addCredential(value: string): void {
    const [, scheme = '', credential = value] = /^(\w+)\s+(.+)$/.exec(value.trim()) ?? [];
    this.add(credential);
    if (!/^basic$/i.test(scheme)) return;
    const decoded = Buffer.from(credential, 'base64').toString();
    this.add(decoded);
    this.add(decoded.slice(decoded.indexOf(':') + 1));
  }

  /** Short values are let pass: they would take everyday words away. */
  private add(value: string): void {
    const trimmed = value.trim();
    if (trimmed.length < shortest) return;
    this.values.add(trimmed);
    this.values.add(JSON.stringify(trimmed).slice(1, -1));
    this.values.add(encodeURIComponent(trimmed));
    this.values.add(Buffer.from(trimmed).toString('base64'));
  }
}

const shortest = 6;
const anyForm = new RegExp(secretForms.join('|'), 'g');
const secretVariable = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
const secretHeader = /authorization|cookie|api-?key|token|secret|password|credential/i;

function cookieValues(header: string): readonly string[] {
  return header.split(/[;,]\s*/).map((pair) => pair.slice(pair.indexOf('=') + 1));
}
