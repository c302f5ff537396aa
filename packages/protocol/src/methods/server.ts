import * as z from 'zod';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';

/** The runtime itself. */
export const serverMethods = {
  'auth.getStatus': method(
    'Who the runtime is logged in as.',
    () => openObject({}),
    () =>
      openObject({
        isAuthenticated: z.boolean(),
        authType: z.enum(['user', 'env', 'gh-cli', 'hmac', 'api-key', 'token']).optional(),
        host: z.string().optional(),
        login: z.string().optional(),
        statusMessage: z.string().optional(),
      }),
  ),
  connect: method(
    'The handshake: shows the token, tells the protocol version.',
    () =>
      openObject({
        token: z.string().optional(),
        enableGitHubTelemetryForwarding: z.boolean().optional(),
      }),
    () => openObject({ ok: z.literal(true), protocolVersion: z.number(), version: z.string() }),
  ),
  ping: method(
    'Whether anybody is there.',
    () => openObject({ message: z.string().optional() }),
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
