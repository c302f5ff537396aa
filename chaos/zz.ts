import { buildProgram, openLab } from './lab.js';
import { killAtStep, undisturbed } from './walk.js';
const lab = await openLab({ program: buildProgram() });
const t0=performance.now();
const { story, milliseconds } = await undisturbed(lab);
console.log(story.map(s=>s.slice(0,100)), milliseconds);
let k=1, runs=0, bad=0;
for (;; k++) {
  const t = await killAtStep(lab, k, { story });
  if (!t) break;
  runs += t.runs;
  for (const f of t.failures) { bad++; console.log(f.deed); for (const p of f.problems) console.log('   ', p.slice(0,600)); }
}
console.log('K', k-1, runs, bad, performance.now()-t0);
await lab.close();
process.exit(0);
