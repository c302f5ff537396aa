import { buildProgram, openLab } from './lab.js';
import { firstLife, laterLife } from './lives.js';
import { newLedger } from './ledger.js';
const lab = await openLab({ program: buildProgram() });
for (let i=0;i<6;i++){
const home = lab.newHome(); const ledger = newLedger('x'); let t=performance.now();
const a = await firstLife(lab,{home,ledgers:[ledger]}); const t1=performance.now();
const b = await laterLife(lab,{home,ledgers:[ledger]},{continuePendingWork:true});
console.log(ledger.problems.slice(0,2)); console.log('first', (t1-t).toFixed(0), a.milliseconds.toFixed(0), 'later', (performance.now()-t1).toFixed(0), b.milliseconds.toFixed(0));
}
await lab.close(); process.exit(0);
