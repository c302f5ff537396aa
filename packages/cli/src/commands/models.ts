import {
  chooseProvider,
  isCopilotConfigured,
  ModelDirectory,
  type ProviderWay,
} from '@groundcrew/model-access';
import { nodeExchange } from '@groundcrew/models';
import { type Config, configFlags, readConfig } from '../config/config.js';
import { switchFlag } from '../flags/flags.js';
import type { Redactor } from '../log/redact.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';
import { defineCommand, show } from './command.js';
import { openCommandLog } from './command-log.js';

/** A way to a model, and what is there or why nothing is. */
interface Way {
  readonly name: ProviderWay['name'] | 'copilot' | 'offline';
  /** Who named it. */
  readonly source: string;
  /** Sessions that name no other use this one. */
  readonly isUsed: boolean;
  readonly models: readonly { readonly id: string; readonly name: string }[];
  readonly reason?: string;
}

const { model, logLevel } = configFlags;

/** `groundcrew models`: which models can be reached, and why others cannot. */
export const models = defineCommand({
  usage: ['groundcrew models [--json]'],
  summary: 'Lists the models that can be reached, and why others cannot',
  flags: { json: switchFlag('--json', 'print it as JSON'), model, logLevel },
  run: async ({ flags }, terminal) => {
    const config = readConfig(flags, terminal.environment);
    const { log, redactor } = openCommandLog(config, terminal);
    const ways = await findWays(config, terminal, redactor);
    log.close();
    show(flags.json ? JSON.stringify(ways, undefined, 2) : lines(ways), terminal);
    return ways.some((way) => way.isUsed && way.models.length === 0) ? exitCodes.failed : exitCodes.done;
  },
});

async function findWays(config: Config, terminal: Terminal, redactor: Redactor): Promise<readonly Way[]> {
  const { environment, version } = terminal;
  const token = environment.GH_TOKEN || environment.GITHUB_TOKEN;
  const exchange = nodeExchange({ environment });
  const directory = new ModelDirectory({
    exchange,
    environment,
    version,
    ...(token && { token: () => ({ value: token, isGiven: false }) }),
  });
  const used = chooseProvider(config.ways, config.model)?.name;
  const hasCopilot = isCopilotConfigured(environment);
  const isCopilotUsed = used === undefined && hasCopilot && config.model !== directory.embedded.id;
  const ask = (list: () => Promise<Way['models']>) => asking(list, redactor);
  const own = config.ways.map(async ({ name, provider, reason }): Promise<Way> => {
    if (!provider) return { name, source: 'not configured', isUsed: false, models: [], reason };
    const found = await ask(() => directory.modelsOf(provider.config));
    const source = `${provider.config.baseUrl}, by ${provider.source}`;
    return { name, source, isUsed: name === used, ...found };
  });
  const copilot = async (): Promise<Way> => {
    if (!hasCopilot) return { name: 'copilot', source: 'not configured', isUsed: false, ...copilotToCome };
    const found = await ask(() => directory.list());
    return { name: 'copilot', source: 'COPILOT_API_URL', isUsed: isCopilotUsed, ...found };
  };
  const isOffline = used === undefined && !isCopilotUsed;
  const offline: Way = {
    name: 'offline',
    source: isOffline && config.model === undefined ? 'nothing else is configured' : 'built in',
    isUsed: isOffline,
    models: [{ id: directory.embedded.id, name: directory.embedded.name }],
  };
  return Promise.all([...own, copilot(), offline]);
}

const copilotToCome = { models: [], reason: 'set COPILOT_API_URL and GH_TOKEN' };

async function asking(
  list: () => Promise<Way['models']>,
  redactor: Redactor,
): Promise<Pick<Way, 'models' | 'reason'>> {
  try {
    return { models: (await inTime(list())).map(({ id, name }) => ({ id, name })) };
  } catch (error) {
    return { models: [], reason: redactor.text(error instanceof Error ? error.message : String(error)) };
  }
}

/** A service that does not answer is a reason like any other. */
async function inTime<T>(asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${longestMs / 1000} s`)), longestMs);
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}

const longestMs = 10_000;

function lines(ways: readonly Way[]): string {
  return ways
    .flatMap(({ name, source, isUsed, models: found, reason }) => [
      `${isUsed ? '*' : ' '} ${name} (${source})${reason === undefined ? '' : `: ${reason}`}`,
      ...found.map((each) => `    ${each.id}${each.name === each.id ? '' : `  ${each.name}`}`),
    ])
    .map(visible)
    .join('\n');
}
