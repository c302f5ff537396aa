import { diffLines } from '../diff.js';
import type { EvaluatedCase } from './outcome.js';
import { attemptsOf, totalsOf, type VariantTotals } from './table.js';

/** An evaluation as one HTML page: no scripts, no other files, and everything that a model wrote as text. */
export function evaluationPage(title: string, cases: readonly EvaluatedCase[]): string {
  const totals = totalsOf(cases);
  const variants = totals.map(({ variant }) => variant);
  const sections = [...attemptsOf(cases)].map(([name, byVariant]) =>
    section(
      name,
      variants.map((variant) => byVariant.get(variant) ?? []),
    ),
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
${summary(totals)}
${sections.join('\n')}
</body>
</html>
`;
}

function summary(totals: readonly VariantTotals[]): string {
  const rows = totals.map(
    ({ variant, passed, of, tokens, milliseconds, cost }) =>
      `<tr><th scope="row">${escaped(variant)}</th><td>${passed} of ${of}</td><td>${tokens}</td><td>${(milliseconds / 1000).toFixed(1)}</td><td>${cost === null ? 'unknown' : cost.toFixed(4)}</td></tr>`,
  );
  return `<table><thead><tr><th>variant</th><th>passed</th><th>tokens</th><th>seconds</th><th>dollars</th></tr></thead><tbody>${rows.join('')}</tbody></table>`;
}

/** One case: the answers side by side, then where each differs from that of the first variant. */
function section(name: string, byVariant: readonly (readonly EvaluatedCase[])[]): string {
  const [first] = byVariant.flat();
  const base = byVariant[0]?.[0];
  const columns = byVariant.map((attempts) => `<div>${attempts.map(answer).join('')}</div>`);
  const differences = byVariant
    .slice(1)
    .flatMap(([other]) => (base && other ? [difference(base, other)] : []));
  return `<section><h2>${escaped(name)}</h2><p class="prompt">${escaped(first?.turn.prompt ?? '')}</p>
<div class="columns">${columns.join('')}</div>${differences.join('')}</section>`;
}

function answer({ variant, attempt, passed, turn, checks }: EvaluatedCase): string {
  const calls = turn.calls.map(
    (call) => `<li><code>${escaped(`${call.name}(${JSON.stringify(call.arguments)})`)}</code></li>`,
  );
  const found = checks.map(
    (check) =>
      `<li class="${check.passed ? 'yes' : 'no'}">${escaped(check.check)}${check.reason === undefined ? '' : `: ${escaped(check.reason)}`}</li>`,
  );
  return `<article class="${passed ? 'yes' : 'no'}"><h3>${escaped(variant)}${attempt > 1 ? ` (attempt ${attempt})` : ''}</h3>
${turn.error === undefined ? '' : `<p class="error">${escaped(turn.error)}</p>`}<pre>${escaped(turn.answer)}</pre>${calls.length > 0 ? `<ul>${calls.join('')}</ul>` : ''}<ul>${found.join('')}</ul></article>`;
}

function difference(base: EvaluatedCase, other: EvaluatedCase): string {
  if (base.turn.answer === other.turn.answer) return '';
  const lines = diffLines(base.turn.answer, other.turn.answer).map(
    (line) => `<span class="${kindOf(line)}">${escaped(line)}</span>`,
  );
  return `<details><summary>${escaped(base.variant)} → ${escaped(other.variant)}</summary><pre>${lines.join('\n')}</pre></details>`;
}

function kindOf(line: string): string {
  if (line.startsWith('-')) return 'gone';
  return line.startsWith('+') ? 'new' : 'same';
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const style = `
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .25rem 1rem .25rem 0; }
section { border-top: 1px solid #8884; margin-top: 1.5rem; }
.prompt { opacity: .75; white-space: pre-wrap; }
.error { color: #c0392b; overflow-wrap: anywhere; }
.columns { display: flex; flex-wrap: wrap; gap: 1rem; }
.columns > div { flex: 1 1 20rem; min-width: 0; }
article { border-left: 4px solid; padding-left: .75rem; }
article.yes { border-color: #2a8a4a; }
article.no { border-color: #c0392b; }
h3 { margin: .25rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; }
li.yes::marker { content: '✓ '; }
li.no::marker { content: '✗ '; }
.gone { color: #c0392b; }
.new { color: #2a8a4a; }
`;
