import { join, resolve } from 'node:path';
import type { Environment } from '@groundcrew/models';
import { type RuntimeOptions, type SandboxSettings, Shells } from '@groundcrew/runtime';
import { trueOrFalse } from '../flags/arguments.js';
import { commandEnvironment } from './command-environment.js';
import { readFileHooksSetting } from './config-file.js';
import { configPath } from './home.js';
import { hookDiscovery, hookFilesReader } from './hooks-file.js';
import { mcpFiles } from './mcp-file.js';
import { standingSandbox } from './sandbox-choice.js';

declare const __WORKER__: string | undefined;

/** The program of worker processes: the bundle has a file of it beside itself; from source it is read as TypeScript. */
export const workerEntry = join(
  import.meta.dirname,
  typeof __WORKER__ === 'undefined' ? '../worker-main.ts' : __WORKER__,
);

/** How the program was started, as far as children of sessions go by it. */
interface Started {
  readonly environment: Environment;
  readonly homeDirectory: string;
  readonly fileHooks?: boolean;
  readonly sandbox?: SandboxSettings;
}

/** MCP servers of files; those of projects see no key of the runtime. */
export function mcpFilesOf({ environment, homeDirectory }: Started): RuntimeOptions['mcpFiles'] {
  const ofProjects = commandEnvironment(environment, resolve(homeDirectory));
  return mcpFiles(homeDirectory, { own: environment, ofProjects });
}

/** Hooks of files, where the user has enabled them. */
export function hookFilesOf({ environment, homeDirectory, fileHooks }: Started): RuntimeOptions['hookFiles'] {
  return hookFilesReader(resolve(homeDirectory), fileHooks ?? standingFileHooks(environment, homeDirectory));
}

/** Where hooks are looked for while no session is open. */
export function hookDiscoveryOf({ environment, homeDirectory, fileHooks }: Started) {
  return hookDiscovery(resolve(homeDirectory), fileHooks ?? standingFileHooks(environment, homeDirectory));
}

/** Where commands run: on the host, or in the sandbox that the operator asks for. */
export function shellsOf({ environment, homeDirectory, sandbox: given }: Started): Shells {
  const sandbox = given ?? standingSandbox(environment, homeDirectory);
  return new Shells(commandEnvironment(environment, resolve(homeDirectory)), {
    homeDirectory: resolve(homeDirectory),
    ...(sandbox && { sandbox }),
  });
}

/** Whether the user has enabled hooks from files for every session: by the environment, or in the home's settings. Throws UsageError. */
function standingFileHooks(environment: Environment, homeDirectory: string): boolean {
  const { GROUNDCREW_FILE_HOOKS } = environment;
  if (GROUNDCREW_FILE_HOOKS) return trueOrFalse(GROUNDCREW_FILE_HOOKS, 'GROUNDCREW_FILE_HOOKS');
  return readFileHooksSetting(configPath(homeDirectory));
}
