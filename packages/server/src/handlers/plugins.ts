import type { Methods } from '@groundcrew/protocol';
import type { Plugins } from '../environment.js';
import { Refusal } from '../failure.js';
import { findSession } from '../find-session.js';
import type { CallContext, Handlers, SessionHandlers } from '../handler.js';
import { reloadPlugins } from '../reload-plugins.js';

type Names = Extract<keyof Methods, `plugins.${string}`>;

export const pluginsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'plugins.list'(_params, { environment }) {
    return { plugins: (await (await environment.plugins?.())?.list()) ?? [] };
  },
  'plugins.install': async ({ source, workingDirectory }, context) =>
    (await pluginsOf(context)).install(source, workingDirectory ?? context.environment.workingDirectory),
  async 'plugins.uninstall'({ name, directSourceId }, context) {
    await (await pluginsOf(context)).uninstall(name, directSourceId ?? undefined);
    return null;
  },
  'plugins.update': async ({ name }, context) => (await pluginsOf(context)).update(name),
  async 'plugins.updateAll'(_params, context) {
    return { results: await (await pluginsOf(context)).updateAll() };
  },
  async 'plugins.enable'({ names }, context) {
    await (await pluginsOf(context)).switch(names, true);
    return null;
  },
  async 'plugins.disable'({ names }, context) {
    await (await pluginsOf(context)).switch(names, false);
    return null;
  },
  async 'plugins.marketplaces.list'(_params, { environment }) {
    return { marketplaces: (await (await environment.plugins?.())?.marketplaces()) ?? [] };
  },
  async 'plugins.marketplaces.add'({ source, workingDirectory }, context) {
    const name = await (await pluginsOf(context)).addMarketplace(
      source,
      workingDirectory ?? context.environment.workingDirectory,
    );
    return { name };
  },
  'plugins.marketplaces.remove': async ({ name, force = false }, context) =>
    (await pluginsOf(context)).removeMarketplace(name, { force }),
  async 'plugins.marketplaces.browse'({ name }, context) {
    return { plugins: await (await pluginsOf(context)).browse(name) };
  },
  async 'plugins.marketplaces.refresh'({ name }, context) {
    return { results: await (await pluginsOf(context)).refresh(name) };
  },
};

type HostNames =
  | 'sessions.loadDeferredRepoHooks'
  | 'sessions.reloadPluginHooks'
  | 'sessions.setAdditionalPlugins';

export const hostPluginsHandlers: Handlers<Pick<Methods, HostNames>> = {
  async 'sessions.setAdditionalPlugins'({ plugins }) {
    if (plugins.length > 0) throw new Refusal('Plugins are added by plugins.install in this version.');
    return {};
  },
  async 'sessions.reloadPluginHooks'({ sessionId }, { runtime }) {
    findSession(runtime, sessionId);
    return {};
  },
  async 'sessions.loadDeferredRepoHooks'({ sessionId }, { runtime }) {
    findSession(runtime, sessionId);
    return { startupPrompts: [], hookCount: 0 };
  },
};

type SessionNames = 'session.plugins.list' | 'session.plugins.reload';

export const sessionPluginsHandlers: SessionHandlers<Pick<Methods, SessionNames>> = {
  async 'session.plugins.list'(_params, { session, environment }) {
    const inUse = new Set(session.currentSettings.pluginDirectories ?? []);
    const installed = (await (await environment.plugins?.())?.installed()) ?? [];
    return { plugins: installed.filter(({ directory }) => inUse.has(directory)).map(({ plugin }) => plugin) };
  },
  async 'session.plugins.reload'(_params, context) {
    await reloadPlugins(context);
    return null;
  },
};

type HomeNames = Exclude<Extract<keyof Methods, `session.plugins.${string}`>, SessionNames>;

/** The plugins of the home, for a client that has a session: relative paths begin at its directory. */
export const sessionPluginsHomeHandlers: SessionHandlers<Pick<Methods, HomeNames>> = {
  'session.plugins.install': ({ source }, context) =>
    pluginsHandlers['plugins.install']({ source, ...placeOf(context) }, context),
  'session.plugins.uninstall': (params, context) => pluginsHandlers['plugins.uninstall'](params, context),
  'session.plugins.update': (params, context) => pluginsHandlers['plugins.update'](params, context),
  'session.plugins.enable': (params, context) => pluginsHandlers['plugins.enable'](params, context),
  'session.plugins.disable': (params, context) => pluginsHandlers['plugins.disable'](params, context),
  'session.plugins.marketplaces.list': (_params, context) =>
    pluginsHandlers['plugins.marketplaces.list']({}, context),
  'session.plugins.marketplaces.add': ({ source }, context) =>
    pluginsHandlers['plugins.marketplaces.add']({ source, ...placeOf(context) }, context),
  'session.plugins.marketplaces.remove': (params, context) =>
    pluginsHandlers['plugins.marketplaces.remove'](params, context),
  'session.plugins.marketplaces.browse': (params, context) =>
    pluginsHandlers['plugins.marketplaces.browse'](params, context),
  'session.plugins.marketplaces.refresh': (params, context) =>
    pluginsHandlers['plugins.marketplaces.refresh'](params, context),
};

function placeOf({
  session,
}: {
  readonly session: { readonly currentSettings: { readonly workingDirectory: string } };
}) {
  return { workingDirectory: session.currentSettings.workingDirectory };
}

async function pluginsOf({ environment }: CallContext): Promise<Plugins> {
  if (!environment.plugins) throw new Refusal('This runtime keeps no plugins.');
  return environment.plugins();
}
