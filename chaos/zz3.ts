import { mkdtempSync } from 'node:fs';
import { buildProgram, openLab } from './lab.js';
import { killAtStep, undisturbed } from './walk.js';
import { killAtRandom } from './random-kills.js';
import { buildPowerCut, cutPower } from './power-cut.js';
const program = buildProgram();
const say = (f: any) => { console.log(f.deed); for (const p of f.problems) console.log('   ', p.slice(0,500)); };
if (process.argv[2] === 'power') {
  const environment = buildPowerCut(mkdtempSync('/tmp/pc-'));
  const lab = await openLab({ program, environment: environment! });
  const { story, milliseconds } = await undisturbed(lab);
  console.log('undisturbed', milliseconds);
  let lost = 0;
  for (let k=+(process.argv[3] ?? 1);; k+=+(process.argv[4]??1)) {
    const t = await killAtStep(lab, k, { story, between: (home) => { const n = cutPower(home); lost += n; } });
    if (!t) { console.log('end', k, 'lost writes', lost); break; }
    t.failures.forEach(say);
  }
  await lab.close();
} else {
  const lab = await openLab({ program, chunkPause: 3 });
  const t0 = performance.now();
  for (let seed=+(process.argv[2] ?? 1), i=0; i < +(process.argv[3] ?? 10); i++, seed++) {
    const f = await killAtRandom(lab, seed);
    if (f) say(f);
  }
  console.log('random', performance.now()-t0);
  await lab.close();
}
process.exit(0);
