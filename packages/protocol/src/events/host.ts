import * as z from 'zod/mini';
import { attachment } from '../attachment.js';
import { durable, ephemeral } from '../define.js';
import { openObject } from '../schema.js';

/** What only a host with a surface of its own shows: canvases, extensions, factories. */
export const hostEvents = {
  'factory.run_settled': ephemeral('A factory run ended.', () =>
    openObject({
      consumedNanoAiu: z.number(),
      consumedSubagents: z.number(),
      elapsedMs: z.number(),
      runId: z.string(),
      status: z.enum(['completed', 'halted', 'cancelled', 'error']),
      failureType: z.optional(z.string()),
    }),
  ),
  'factory.run_started': ephemeral('A factory run began.', () =>
    openObject({ attempt: z.number(), factoryName: z.string(), runId: z.string() }),
  ),
  'factory.run_updated': ephemeral('A factory run changed; read it anew.', () =>
    openObject({ revision: z.number(), runId: z.string() }),
  ),
  'workflow.run_started': ephemeral('A run of a workflow began.', () =>
    openObject({ attempt: z.number(), workflowName: z.string(), runId: z.string() }),
  ),
  'workflow.run_updated': ephemeral('A run of a workflow changed; read it anew.', () =>
    openObject({ revision: z.number(), runId: z.string() }),
  ),
  'session.canvas.closed': ephemeral('A canvas was closed.', () => openObject(canvas())),
  'session.canvas.opened': ephemeral('A canvas was opened.', () =>
    openObject({
      ...canvas(),
      extensionName: z.optional(z.string()),
      icon: z.optional(z.string()),
      input: z.optional(z.unknown()),
      status: z.optional(z.string()),
      title: z.optional(z.string()),
      url: z.optional(z.string()),
    }),
  ),
  'session.canvas.recorded': durable('An open canvas, for a later resume.', () =>
    openObject({
      ...canvas(),
      input: z.optional(z.unknown()),
      title: z.optional(z.string()),
    }),
  ),
  'session.canvas.registry_changed': ephemeral('The canvases one may open.', () =>
    openObject({
      canvases: z.array(
        openObject({
          canvasId: z.string(),
          description: z.string(),
          displayName: z.string(),
          extensionId: z.string(),
          actions: z.optional(
            z.array(
              openObject({
                name: z.string(),
                description: z.optional(z.string()),
                inputSchema: z.optional(z.unknown()),
              }),
            ),
          ),
          extensionName: z.optional(z.string()),
          icon: z.optional(z.string()),
          inputSchema: z.optional(z.unknown()),
        }),
      ),
    }),
  ),
  'session.canvas.removed': durable('A recorded canvas is not to be opened again.', () =>
    openObject(canvas()),
  ),
  'session.canvas.unavailable': ephemeral('A canvas lost the extension behind it.', () =>
    openObject(canvas()),
  ),
  'session.extensions.attachments_pushed': ephemeral(
    'An extension adds attachments to the next prompt.',
    () => openObject({ attachments: z.array(attachment()) }),
  ),
  'session.extensions_loaded': ephemeral('All extensions and their state.', () =>
    openObject({ extensions: z.array(openObject(extension())) }),
  ),
};

/** Which canvas an event is about. */
const canvas = () => ({ canvasId: z.string(), extensionId: z.string(), instanceId: z.string() });

/** An extension and its state. */
export function extension() {
  return {
    id: z.string(),
    name: z.string(),
    source: z.enum(['project', 'user', 'plugin', 'session']),
    status: z.enum(['running', 'disabled', 'failed', 'starting']),
  };
}
