import { parseArgs } from 'node:util';
import { attacks } from './attacks.js';

const usage = `Attacks real runtimes, and looks whether a promise breaks.

  npm run attack                     every attack, each as often as docs/security.md says
  npm run attack -- --only NAME      one of them; may be repeated: ${attacks.map(({ name }) => name).join(', ')}
  npm run attack -- --count N        how many cases of each
  npm run attack -- --seed S         other cases; the same seed makes the same ones
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    count: { type: 'string' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(usage);
else process.exitCode = (await attackAll()) ? 0 : 1;
process.exit();

async function attackAll(): Promise<boolean> {
  const seed = wholeNumber(values.seed, '--seed');
  const rows: string[] = [];
  let hasHeld = true;
  for (const { name, what, count, run } of chosen()) {
    const began = performance.now();
    const extent = values.count === undefined ? count : wholeNumber(values.count, '--count');
    const { tried, violations, measured } = await run({ count: extent, seed });
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    for (const violation of violations) console.error(`${name}: ${violation}`);
    const result = violations.length === 0 ? 'held' : `${violations.length} violations`;
    rows.push(
      `| ${name} | ${what} | ${tried.toLocaleString('en')} | ${result} | ${measured ?? ''} | ${seconds} s |`,
    );
    hasHeld &&= violations.length === 0 && tried > 0;
  }
  console.log(`seed ${seed}\n`);
  console.log('| attack | what was tried | cases | result | measured | took |');
  console.log('| --- | --- | ---: | --- | --- | ---: |');
  for (const row of rows) console.log(row);
  return hasHeld;
}

function chosen(): typeof attacks {
  if (values.only.length === 0) return attacks;
  return values.only.map((name) => {
    const attack = attacks.find((each) => each.name === name);
    if (!attack) throw new Error(`--only ${name}: there is no such attack\n\n${usage}`);
    return attack;
  });
}

function wholeNumber(text: string, flag: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${flag} needs a whole number, not ${text}`);
  return Number(text);
}
