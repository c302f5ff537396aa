import { parseArgs } from 'node:util';
import { type Examined, serveFixtures, serveProgram } from './serve.js';
import { runSuite, type Suite, scenariosOf } from './suite.js';

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    suite: { type: 'string' },
    part: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

const suites: readonly Suite[] = ['@modelcontextprotocol/conformance', 'conformance-next'];

/** What the program does not have, and why. */
const leftOut: Readonly<Record<string, string>> = {
  'auth/client-credentials-jwt': 'no log-in with signed assertions',
  'auth/cross-app-access-complete-flow': 'no log-in by an identity provider of an enterprise',
  'auth/enterprise-managed-authorization': 'no log-in by an identity provider of an enterprise',
  'auth/wif-jwt-bearer': 'no log-in with signed assertions',
  'auth/dpop': 'no tokens that are bound to a key',
  'auth/dpop-nonce': 'no tokens that are bound to a key',
};

/** What `mcp serve` has to offer by itself, without tools of a scenario. */
const ofProgram = new Set([
  'server-initialize',
  'server-session-lifecycle',
  'ping',
  'tools-list',
  'dns-rebinding-protection',
  'http-header-validation',
]);

/** Extensions that `mcp serve` does not have: tasks, and skills as resources. */
const extensions = /^(tasks-|sep-2640-)/;

const mostFaults = 20;
let failures = 0;
let passed = 0;
const left: string[] = [];

for (const suite of suites.filter((name) => flags.suite === undefined || name.includes(flags.suite))) {
  if (flags.part !== 'server') await examineClient(suite);
  if (flags.part !== 'client') await examineServers(suite);
}
for (const line of left) console.log(line);
console.log(`${passed} scenarios passed, ${failures} failed, ${left.length} left out`);
process.exitCode = failures === 0 ? 0 : 1;

async function examineClient(suite: Suite): Promise<void> {
  for (const { name, revisions } of await chosen(suite, 'Client')) {
    const reason = leftOut[name];
    if (reason === undefined)
      await examine(
        suite,
        ['client', '--command', 'npx tsx conformance/client.ts', '--scenario', name],
        `client ${name}`,
      );
    else left.push(`left   ${label(suite)} client ${name} [${revisions}]: ${reason}`);
  }
}

async function examineServers(suite: Suite): Promise<void> {
  const scenarios = await chosen(suite, 'Server');
  await against(serveProgram, async ({ url }) => {
    for (const { name } of scenarios.filter((scenario) => ofProgram.has(scenario.name)))
      await examine(suite, ['server', '--url', url, '--scenario', name], `mcp serve ${name}`);
  });
  await against(serveFixtures, async ({ url }) => {
    for (const { name, revisions } of scenarios) {
      if (extensions.test(name))
        left.push(`left   ${label(suite)} server ${name} [${revisions}]: no such extension`);
      else await examine(suite, ['server', '--url', url, '--scenario', name], `server ${name}`);
    }
  });
}

async function against(
  open: () => Promise<Examined>,
  work: (examined: Examined) => Promise<void>,
): Promise<void> {
  const examined = await open();
  try {
    await work(examined);
  } finally {
    await examined.close();
  }
}

async function chosen(suite: Suite, part: 'Client' | 'Server') {
  const scenarios = await scenariosOf(suite, part);
  if (scenarios.length === 0) throw new Error(`${suite} lists no ${part} scenarios`);
  return scenarios.filter(({ name }) => flags.only === undefined || name.includes(flags.only));
}

/** A scenario that fails is played once more: some measure time, and this machine may be busy. */
async function examine(suite: Suite, args: readonly string[], title: string): Promise<void> {
  let result = await runSuite(suite, args);
  if (result.code !== 0) result = await runSuite(suite, args);
  const isPassed = result.code === 0;
  if (isPassed) passed += 1;
  else failures += 1;
  console.log(`${isPassed ? 'ok    ' : 'FAILED'} ${label(suite)} ${title}`);
  const lines = result.output.split('\n');
  const faults = lines.filter((line) => /FAILURE|Error/.test(line)).slice(0, mostFaults);
  if (flags.verbose) console.log(result.output);
  else if (!isPassed) console.log(faults.join('\n'));
}

function label(suite: Suite): string {
  return suite === 'conformance-next' ? 'next' : 'stable';
}
