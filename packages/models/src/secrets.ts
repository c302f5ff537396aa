/** A part of a secret that is shorter is in many texts. */
const shortestPart = 6;
const shortestSecret = 4;

/**
 * A text without secrets, in whatever form services repeat them: as they are, as JSON, as part of an address, and cut where the
 * text was cut.
 */
export function withoutValues(text: string, secrets: readonly string[]): string {
  const forms = new Set(secrets.filter(({ length }) => length >= shortestSecret).flatMap(formsOf));
  const longestFirst = [...forms].toSorted((one, other) => other.length - one.length);
  const whole = longestFirst.reduce((clean, form) => clean.replaceAll(form, '***'), text);
  return longestFirst.reduce((clean, form) => withoutEnd(withoutBeginning(clean, form), form), whole);
}

/** The values in the query of an address that are named like secrets. */
export function secretsInAddress(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  return [...new URL(url).searchParams].flatMap(([name, value]) => (secretName.test(name) ? [value] : []));
}

const secretName = /(?:^|[^a-z])(?:api[-_]?)?(?:key|token|secret|sig|signature|password|auth|code)$/i;

function formsOf(secret: string): readonly string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [secret, json, json.replaceAll('/', '\\/'), encodeURIComponent(secret)];
}

/** What bounds a text may cut a secret in two: its beginning at the end of the text goes, as does its end at the beginning. */
function withoutBeginning(text: string, secret: string): string {
  const [, body = '', end = ''] = /^(.*?)(…?)$/s.exec(text) ?? [];
  const most = Math.min(secret.length - 1, body.length);
  const scheme = /^[a-z]+(?: |%20)/i.exec(secret)?.[0] ?? '';
  const least = scheme.length + shortestPart;
  for (let length = most; length >= least; length -= 1) {
    if (body.endsWith(secret.slice(0, length))) return `${body.slice(0, -length)}***${end}`;
  }
  return text;
}

function withoutEnd(text: string, secret: string): string {
  for (let length = Math.min(secret.length - 1, text.length); length >= shortestPart; length -= 1) {
    if (text.startsWith(secret.slice(-length))) return `***${text.slice(length)}`;
  }
  return text;
}
