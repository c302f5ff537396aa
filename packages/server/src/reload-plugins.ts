import type { SessionCallContext } from './handler.js';

/** Has a session go by the plugins that are installed and enabled now. */
export async function reloadPlugins({ session, runtime, environment }: SessionCallContext): Promise<void> {
  const plugins = await environment.plugins?.();
  const all = new Set(((await plugins?.installed()) ?? []).map(({ directory }) => directory));
  const enabled = (await plugins?.enabled()) ?? { plugins: [], skills: [] };
  const isOthers = (path: string) => ![...all].some((directory) => path.startsWith(directory));
  await runtime.change(session, (before) => ({
    ...before,
    pluginDirectories: [...(before.pluginDirectories ?? []).filter(isOthers), ...enabled.plugins],
    skillDirectories: [...(before.skillDirectories ?? []).filter(isOthers), ...enabled.skills],
  }));
}
