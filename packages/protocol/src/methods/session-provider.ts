import * as z from 'zod/mini';
import { method } from '../define.js';
import { text } from '../fields.js';
import { modelInfo, namedProviderConfig, providerConfig, providerModel } from '../model.js';
import { openEnum, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, success } from './session-ref.js';

/** The model services of a session. */
export const sessionProviderMethods = {
  'session.provider.add': method(
    'More model services and models, in memory only; a name that is taken is replaced.',
    () =>
      sparseObject(
        { providers: () => z.array(namedProviderConfig()), models: () => z.array(providerModel()) },
        { sessionId: text },
      ),
    () => openObject({ models: z.array(modelInfo()) }),
  ),
  'session.provider.getEndpoint': method(
    'Where the session calls its model, and what it shows there.',
    () => inSession({ modelId: z.optional(z.string()) }),
    () =>
      openObject({
        type: openEnum(['openai', 'azure', 'anthropic']),
        wireApi: z.optional(openEnum(['completions', 'responses'])),
        transport: z.optional(openEnum(['http', 'websockets'])),
        baseUrl: z.string(),
        apiKey: z.optional(z.string()),
        headers: z.record(z.string(), z.string()),
      }),
  ),
  'session.provider.sync': method(
    'Replaces all model services and models of the session by these, in memory only.',
    () =>
      sparseObject(
        { providers: () => z.array(namedProviderConfig()), models: () => z.array(providerModel()) },
        { sessionId: text },
      ),
    () =>
      openObject({
        models: z.array(modelInfo()),
        selectionIds: z.array(z.string()),
        modelDeselected: z.optional(z.boolean()),
      }),
  ),
  'session.provider.withdraw': method(
    'Takes models back by `provider/model`, and a service with the last of its models; others stay.',
    () => inSession({ models: z.array(z.string()) }),
    () =>
      openObject({
        withdrawn: z.array(z.string()),
        providersRemoved: z.array(z.string()),
        modelDeselected: z.optional(z.boolean()),
      }),
  ),
  'session.provider.update': method(
    'Changes the settings it names of the model service, from the next model call on; the others stay.',
    () => inSession({ provider: providerConfig() }),
    success,
  ),
};
