import * as z from 'zod/mini';
import { method } from '../define.js';
import { text } from '../fields.js';
import { nothing, once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef } from './session-ref.js';

/** Plugins: directories with skills and MCP servers that new sessions have. */
export const pluginsMethods = {
  'plugins.disable': method('New sessions do not have these plugins.', names, nothing),
  'plugins.enable': method('New sessions have these plugins.', names, nothing),
  'plugins.install': method(
    'Copies a plugin into the home: from a directory, or by `name@marketplace`.',
    () => openObject({ source: z.string(), workingDirectory: z.optional(z.string()) }),
    () =>
      openObject({
        plugin: plugin(),
        skillsInstalled: z.number(),
        deprecationWarning: z.optional(z.string()),
      }),
  ),
  'plugins.list': method('The plugins that are installed.', none, () =>
    openObject({ plugins: z.array(plugin()) }),
  ),
  'plugins.marketplaces.add': method(
    'Adds a directory that lists plugins in its `marketplace.json`.',
    () => openObject({ source: z.string(), workingDirectory: z.optional(z.string()) }),
    () => openObject({ name: z.string() }),
  ),
  'plugins.marketplaces.browse': method(
    'The plugins that a marketplace lists.',
    () => openObject({ name: z.string() }),
    () =>
      openObject({
        plugins: z.array(openObject({ name: z.string(), description: z.optional(z.string()) })),
      }),
  ),
  'plugins.marketplaces.list': method('The marketplaces there are.', none, () =>
    openObject({
      marketplaces: z.array(
        openObject({ name: z.string(), source: z.string(), isDefault: z.optional(z.boolean()) }),
      ),
    }),
  ),
  'plugins.marketplaces.refresh': method(
    'Reads marketplaces anew.',
    () => sparseObject({ name: text }),
    () =>
      openObject({
        results: z.array(
          openObject({ name: z.string(), success: z.boolean(), error: z.optional(z.string()) }),
        ),
      }),
  ),
  'plugins.marketplaces.remove': method(
    'Takes a marketplace out; with `force` even if plugins of it are installed.',
    () => openObject({ name: z.string(), force: z.optional(z.boolean()) }),
    () => openObject({ removed: z.boolean(), dependentPlugins: z.optional(z.array(z.string())) }),
  ),
  'plugins.uninstall': method(
    'Removes a plugin and its files.',
    () => openObject({ name: z.string(), directSourceId: z.nullish(z.string()) }),
    nothing,
  ),
  'plugins.update': method(
    'Copies a plugin again from where it came.',
    () => openObject({ name: z.string() }),
    () => updated(),
  ),
  'plugins.updateAll': method('The same for all of them.', none, () =>
    openObject({
      results: z.array(
        openObject({
          name: z.string(),
          marketplace: z.string(),
          success: z.boolean(),
          previousVersion: z.optional(z.string()),
          newVersion: z.optional(z.string()),
          skillsInstalled: z.optional(z.number()),
          error: z.optional(z.string()),
        }),
      ),
    }),
  ),
};

/** Plugins that a host adds for the life of the process, and their hooks. */
export const hostPluginsMethods = {
  'sessions.loadDeferredRepoHooks': method(
    'Hooks that were put off: none ever are, they are read when a session needs them.',
    sessionRef,
    () => openObject({ startupPrompts: z.array(z.string()), hookCount: z.number() }),
  ),
  'sessions.reloadPluginHooks': method('Plugins have no hooks in this version.', sessionRef, none),
  'sessions.setAdditionalPlugins': method(
    'With an empty list, what is so; others are to be installed.',
    () => openObject({ plugins: z.array(z.unknown()) }),
    none,
  ),
};

/** What the methods of plugins do, for a client that has a session: its directory is where paths begin. */
function ofSession<P extends z.core.$ZodLooseShape>(shape: () => P) {
  return () => inSession(shape());
}

/** The same in a session. */
export const sessionPluginsMethods = {
  'session.plugins.disable': method(
    'New sessions do not have these plugins; `session.plugins.reload` applies that to this one.',
    ofSession(() => ({ names: z.array(z.string()) })),
    nothing,
  ),
  'session.plugins.enable': method(
    'New sessions have these plugins; `session.plugins.reload` applies that to this one.',
    ofSession(() => ({ names: z.array(z.string()) })),
    nothing,
  ),
  'session.plugins.install': method(
    'Copies a plugin into the home, as `plugins.install` does.',
    ofSession(() => ({ source: z.string() })),
    () => pluginsMethods['plugins.install'].result(),
  ),
  'session.plugins.marketplaces.add': method(
    'Adds a directory that lists plugins.',
    ofSession(() => ({ source: z.string() })),
    () => pluginsMethods['plugins.marketplaces.add'].result(),
  ),
  'session.plugins.marketplaces.browse': method(
    'The plugins that a marketplace lists.',
    ofSession(() => ({ name: z.string() })),
    () => pluginsMethods['plugins.marketplaces.browse'].result(),
  ),
  'session.plugins.marketplaces.list': method('The marketplaces there are.', sessionRef, () =>
    pluginsMethods['plugins.marketplaces.list'].result(),
  ),
  'session.plugins.marketplaces.refresh': method(
    'Reads marketplaces anew.',
    () => sparseObject({ name: text }, { sessionId: text }),
    () => pluginsMethods['plugins.marketplaces.refresh'].result(),
  ),
  'session.plugins.marketplaces.remove': method(
    'Takes a marketplace out; with `force` even if plugins of it are installed.',
    ofSession(() => ({ name: z.string(), force: z.optional(z.boolean()) })),
    () => pluginsMethods['plugins.marketplaces.remove'].result(),
  ),
  'session.plugins.uninstall': method(
    'Removes a plugin and its files.',
    ofSession(() => ({ name: z.string(), directSourceId: z.nullish(z.string()) })),
    nothing,
  ),
  'session.plugins.update': method(
    'Copies a plugin again from where it came.',
    ofSession(() => ({ name: z.string() })),
    () => updated(),
  ),
  'session.plugins.list': method('The plugins that the session has.', sessionRef, () =>
    openObject({ plugins: z.array(plugin()) }),
  ),
  'session.plugins.reload': method(
    'Applies the plugins that are installed and enabled now.',
    sessionRef,
    nothing,
  ),
};

function none() {
  return openObject({});
}

function names() {
  return openObject({ names: z.array(z.string()) });
}

const plugin = once(() =>
  openObject({
    name: z.string(),
    /** Empty for one that came from a directory. */
    marketplace: z.string(),
    directSourceId: z.optional(z.string()),
    version: z.optional(z.string()),
    enabled: z.boolean(),
  }),
);

const updated = once(() =>
  openObject({
    previousVersion: z.optional(z.string()),
    newVersion: z.optional(z.string()),
    skillsInstalled: z.number(),
  }),
);
