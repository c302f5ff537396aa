import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text } from '../fields.js';
import { nothing, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';

/** The runtime itself. */
export const serverMethods = {
  'auth.getStatus': method(
    'Who the runtime is logged in as.',
    () => openObject({}),
    () =>
      openObject({
        isAuthenticated: z.boolean(),
        authType: z.optional(z.enum(['user', 'env', 'gh-cli', 'hmac', 'api-key', 'token'])),
        host: z.optional(z.string()),
        login: z.optional(z.string()),
        statusMessage: z.optional(z.string()),
      }),
  ),
  connect: method(
    'The handshake: shows the token, answers with the protocol version.',
    () =>
      sparseObject({
        token: text,
        enableGitHubTelemetryForwarding: flag,
        /** What the app is called; also the mark of a client that reads every event of today. */
        clientInfo: () => z.record(z.string(), z.unknown()),
      }),
    () => openObject({ ok: z.literal(true), protocolVersion: z.number(), version: z.string() }),
  ),
  ping: method(
    'Whether the runtime answers.',
    () => sparseObject({ message: text }),
    () =>
      openObject({
        message: z.string(),
        /** ISO text after `connect`; milliseconds for clients that never connect. */
        timestamp: z.union([z.string(), z.number()]),
        protocolVersion: z.number(),
      }),
  ),
  'runtime.shutdown': method(
    'Closes every session, answers, and ends the process.',
    () => openObject({}),
    nothing,
  ),
  'status.get': method(
    'Which version runs.',
    () => openObject({}),
    () => openObject({ version: z.string(), protocolVersion: z.number() }),
  ),
};
