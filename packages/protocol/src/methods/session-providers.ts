import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

const json = () => z.record(z.string(), z.unknown());
const instance = () => openObject({ adapterId: z.optional(z.string()) });

/** Model services that a runtime finds by itself through adapters. This one has no adapter: services are named by `provider`. */
export const sessionProvidersMethods = {
  'session.providers.getCatalog': method(
    'The adapters by which model services are found; there are none in this version.',
    sessionRef,
    () => openObject({ providers: z.array(json()) }),
  ),
  'session.providers.discover': method(
    'Finds services by an adapter; refused, for there is none.',
    () => inSession({ adapterId: z.string(), input: z.optional(z.unknown()) }),
    () => openObject({ instances: z.array(json()), outcome: json() }),
  ),
  'session.providers.getStatus': method(
    'How a service that was found is; refused, for none is found.',
    () => inSession({ instance: instance() }),
    json,
  ),
  'session.providers.models.list': method(
    'The models of a service that was found; refused, for none is found.',
    () => inSession({ instance: instance() }),
    json,
  ),
  'session.providers.models.prepareConfiguration': method(
    'How a model of a service that was found would be named; refused, for none is found.',
    () => inSession({ instance: json(), model: json() }),
    json,
  ),
};
