import { parseArgs } from 'node:util';
import { faults } from './faults.js';
import { whyNoNetworks } from './network.js';
import { chaosRun } from './run.js';

const usage = `Three nodes on real PostgreSQL and NATS, clients at work, and one thing that goes wrong.

  npm run chaos:cluster                   every fault once
  npm run chaos:cluster -- --runs N       every fault N times
  npm run chaos:cluster -- --only NAME    one fault; may be repeated: ${Object.keys(faults).join(', ')}
  npm run chaos:cluster -- --seed N       the first seed; a seed gives the same choices again
  npm run chaos:cluster -- --proxies      nodes are cut off by proxies, not by network namespaces (ip netns, as root)
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    runs: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    proxies: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(usage);
else process.exitCode = (await runAll()) ? 0 : 1;
process.exit();

async function runAll(): Promise<boolean> {
  const names = values.only ?? Object.keys(faults);
  const unknown = names.find((name) => !(name in faults));
  if (unknown !== undefined) throw new Error(`There is no fault ${unknown}\n${usage}`);
  const obstacle = values.proxies ? '--proxies was given' : whyNoNetworks();
  if (obstacle !== undefined)
    console.log(`Nodes are cut off by proxies, and network namespaces are skipped: ${obstacle}`);
  const hasNetworks = obstacle === undefined;
  const takeOvers: number[] = [];
  let failures = 0;
  let runs = 0;
  for (let round = 0; round < Number(values.runs); round += 1)
    for (const name of names) {
      const seed = Number(values.seed) + round;
      const began = performance.now();
      const result = await chaosRun(name, { seed, hasNetworks }).catch((error: unknown) => ({
        problems: [`${(error as Error).stack}`],
        takeOvers: [],
        events: 0,
      }));
      runs += 1;
      takeOvers.push(...result.takeOvers);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      const times = result.takeOvers.map((each) => `${(each / 1000).toFixed(2)} s`).join(', ');
      const taken = times === '' ? '' : `, taken over after ${times}`;
      const outcome = result.problems.length === 0 ? 'held' : 'FAILED';
      const how = hasNetworks && name.startsWith('cut') ? ' (network namespaces)' : '';
      console.log(`${name}${how}, seed ${seed}: ${outcome}, ${result.events} events${taken}, ${seconds} s`);
      for (const problem of result.problems) console.log(`  ${problem}`);
      if (result.problems.length > 0) failures += 1;
    }
  const sorted = takeOvers.sort((a, b) => a - b);
  const at = (share: number) =>
    ((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) / 1000).toFixed(2);
  console.log(
    `cluster: K = ${names.length} faults, ${runs} runs, ${failures} failures; ${sorted.length} take-overs, p50 ${at(0.5)} s, p99 ${at(0.99)} s`,
  );
  return failures === 0;
}
