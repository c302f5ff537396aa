import { resolve } from 'node:path';
import { ModelDirectory } from '@groundcrew/model-access';
import {
  type Environment,
  type Exchange,
  type KeyHold,
  type KeyLimiter,
  limitedByKey,
  nodeExchange,
} from '@groundcrew/models';
import type { Workers } from '@groundcrew/runtime';
import { namesIn } from '../flags/arguments.js';
import type { HomeAccounts } from './accounts.js';
import { modelSettings } from './model-settings.js';

/** What the models of a home stand on. */
export interface HomeModelParts {
  readonly workers: Workers;
  readonly accounts: HomeAccounts;
  /** How a client makes the model calls, if one does. */
  carried(): Exchange | undefined;
  /** Other nodes should know of it. */
  onHold(held: KeyHold): void;
}

interface HomeModelOptions {
  readonly homeDirectory: string;
  readonly environment: Environment;
  readonly version: string;
  /** Other processes of this machine should know of a key that is held. */
  onKeyHeld?(held: KeyHold): void;
}

/** The model services that a home knows, and the limiter of all calls to them. */
export function homeModels(
  options: HomeModelOptions,
  { workers, carried, accounts, onHold }: HomeModelParts,
): { readonly models: ModelDirectory; readonly limiter: KeyLimiter } {
  const { environment, version } = options;
  const direct = nodeExchange({ environment, limits: () => models.timeLimits });
  const limiter = limitedByKey(direct, {
    onHold: (held) => {
      onHold(held);
      options.onKeyHeld?.(held);
    },
  });
  const models: ModelDirectory = new ModelDirectory({
    // A client that makes the model calls takes the place of the network.
    exchange: (request, signal) => (carried() ?? limiter.exchange)(request, signal),
    directExchange: limiter.exchange,
    environment,
    version,
    readSettings: modelSettings(resolve(options.homeDirectory), environment),
    clientHeaderVariables: namesIn(environment.GROUNDCREW_HEADER_ENV),
    thinkElsewhere: (request, signal) => workers.run('offline', request, { milliseconds: 5000 }, signal),
    token: () => {
      const { shown } = accounts;
      return shown && { value: shown.value, isGiven: shown.source !== 'env' };
    },
  });
  return { models, limiter };
}
