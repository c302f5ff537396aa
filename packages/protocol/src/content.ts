import * as z from 'zod';
import { omittedReason } from './attachment.js';
import { once, oneOf, openEnum, openObject, type Value } from './schema.js';

/** What a finished tool call brought: `content` for the model, the rest for people. */
export const toolOutput = once(() =>
  openObject({
    content: z.string(),
    binaryResultsForLlm: z.array(storedBinary()).optional(),
    citableSources: z
      .array(
        openObject({
          content: z.string(),
          id: z.string(),
          path: z.string().optional(),
          title: z.string().optional(),
          url: z.string().optional(),
        }),
      )
      .optional(),
    contents: z.array(toolContent()).optional(),
    detailedContent: z.string().optional(),
    mcpMeta: z.unknown().optional(),
    structuredContent: z.unknown().optional(),
    uiResource: openObject({
      mimeType: z.string(),
      uri: z.string(),
      _meta: z.unknown().optional(),
      blob: z.string().optional(),
      text: z.string().optional(),
    }).optional(),
  }),
);

/** The result of `tool.execution_complete`. */
export type ToolOutput = Value<typeof toolOutput>;

/** A block of `ToolOutput.contents`. */
export type ToolContent = Value<typeof toolContent>;

/** What a client answers for a tool of its own. */
export const clientToolResult = once(() =>
  openObject({
    textResultForLlm: z.string(),
    resultType: openEnum(['success', 'failure', 'rejected', 'denied', 'timeout']).nullish(),
    error: z.string().nullish(),
    sessionLog: z.string().nullish(),
    toolTelemetry: z.record(z.string(), z.unknown()).nullish(),
    binaryResultsForLlm: z
      .array(
        openObject({
          type: openEnum(['image', 'resource']),
          /** Base64. */
          data: z.string(),
          mimeType: z.string(),
          description: z.string().nullish(),
          metadata: z.record(z.string(), z.unknown()).nullish(),
        }),
      )
      .nullish(),
    contents: z.array(toolContent()).nullish(),
    toolReferences: z.array(z.string()).nullish(),
  }),
);

/** The result of `session.tools.handlePendingToolCall`. */
export type ClientToolResult = Value<typeof clientToolResult>;

/** Binary output of a tool: inline, stored apart, or left out. */
const storedBinary = once(() =>
  z.union([
    openObject({ ...binary(), data: z.string() }),
    openObject({ ...binary(), assetId: z.string(), byteLength: z.number() }),
    openObject({ ...binary(), omittedReason: omittedReason(), byteLength: z.number() }),
  ]),
);

const binary = () => ({
  type: z.enum(['image', 'resource']),
  mimeType: z.string(),
  description: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** One block of a tool result, for people to look at. */
const toolContent = once(() =>
  oneOf('type', [
    openObject({ type: z.literal('text'), text: z.string() }),
    openObject({
      type: z.literal('terminal'),
      text: z.string(),
      cwd: z.string().optional(),
      exitCode: z.number().optional(),
    }),
    openObject({
      type: z.literal('shell_exit'),
      exitCode: z.number(),
      shellId: z.string(),
      cwd: z.string().optional(),
      outputPreview: z.string().optional(),
      outputTruncated: z.boolean().optional(),
    }),
    openObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
    openObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
    openObject({
      type: z.literal('resource_link'),
      name: z.string(),
      uri: z.string(),
      description: z.string().optional(),
      icons: z
        .array(
          openObject({
            src: z.string(),
            mimeType: z.string().optional(),
            sizes: z.array(z.string()).optional(),
            theme: z.enum(['light', 'dark']).optional(),
          }),
        )
        .optional(),
      mimeType: z.string().optional(),
      size: z.number().optional(),
      title: z.string().optional(),
    }),
    openObject({
      type: z.literal('resource'),
      resource: z.union([
        openObject({ text: z.string(), uri: z.string(), mimeType: z.string().optional() }),
        openObject({ blob: z.string(), uri: z.string(), mimeType: z.string().optional() }),
      ]),
    }),
  ]),
);
