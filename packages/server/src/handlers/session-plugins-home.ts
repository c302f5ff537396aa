import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';
import { pluginsHandlers } from './plugins.js';

type Names = Exclude<
  Extract<keyof Methods, `session.plugins.${string}`>,
  'session.plugins.list' | 'session.plugins.reload'
>;

/** The plugins of the home, for a client that has a session: relative paths begin at its directory. */
export const sessionPluginsHomeHandlers: SessionHandlers<Pick<Methods, Names>> = {
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
