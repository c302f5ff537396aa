import * as z from 'zod/mini';
import { omittedReason } from './attachment.js';
import { mapOrNull, text, textOrNull, textsOrNull } from './fields.js';
import { once, oneOf, openEnum, openObject, type Value } from './schema.js';
import { sparseObject } from './sparse-object.js';

/** What a finished tool call brought: `content` for the model, the rest for users. */
export const toolOutput = once(() =>
  openObject({
    content: z.string(),
    binaryResultsForLlm: z.optional(z.array(storedBinary())),
    citableSources: z.optional(
      z.array(
        openObject({
          content: z.string(),
          id: z.string(),
          path: z.optional(z.string()),
          title: z.optional(z.string()),
          url: z.optional(z.string()),
        }),
      ),
    ),
    contents: z.optional(z.array(toolContent())),
    detailedContent: z.optional(z.string()),
    mcpMeta: z.optional(z.unknown()),
    structuredContent: z.optional(z.unknown()),
    uiResource: z.optional(
      openObject({
        mimeType: z.string(),
        uri: z.string(),
        _meta: z.optional(z.unknown()),
        blob: z.optional(z.string()),
        text: z.optional(z.string()),
      }),
    ),
  }),
);

/** The result of `tool.execution_complete`. */
export type ToolOutput = Value<typeof toolOutput>;

/** A block of `ToolOutput.contents`. */
export type ToolContent = Value<typeof toolContent>;

/** What a client answers for a tool of its own. */
export const clientToolResult = once(() =>
  sparseObject(
    {
      resultType: () => z.nullable(openEnum(['success', 'failure', 'rejected', 'denied', 'timeout'])),
      error: textOrNull,
      sessionLog: textOrNull,
      toolTelemetry: mapOrNull,
      binaryResultsForLlm: () => z.nullable(z.array(sentBinary())),
      contents: () => z.nullable(z.array(toolContent())),
      toolReferences: textsOrNull,
    },
    { textResultForLlm: text },
  ),
);

/** The result of `session.tools.handlePendingToolCall`. */
export type ClientToolResult = Value<typeof clientToolResult>;

/** Binary output of a client's tool. */
const sentBinary = once(() =>
  openObject({
    type: openEnum(['image', 'resource']),
    /** Base64. */
    data: z.string(),
    mimeType: z.string(),
    description: z.nullish(z.string()),
    metadata: z.nullish(z.record(z.string(), z.unknown())),
  }),
);

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
  description: z.optional(z.string()),
  metadata: z.optional(z.record(z.string(), z.unknown())),
});

/** One block of a tool result, for users to look at. */
const toolContent = once(() =>
  oneOf('type', [
    openObject({ type: z.literal('text'), text: z.string() }),
    openObject({
      type: z.literal('terminal'),
      text: z.string(),
      cwd: z.optional(z.string()),
      exitCode: z.optional(z.number()),
    }),
    openObject({
      type: z.literal('shell_exit'),
      exitCode: z.number(),
      shellId: z.string(),
      cwd: z.optional(z.string()),
      outputPreview: z.optional(z.string()),
      outputTruncated: z.optional(z.boolean()),
    }),
    openObject({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
    openObject({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
    openObject({
      type: z.literal('resource_link'),
      name: z.string(),
      uri: z.string(),
      description: z.optional(z.string()),
      icons: z.optional(
        z.array(
          openObject({
            src: z.string(),
            mimeType: z.optional(z.string()),
            sizes: z.optional(z.array(z.string())),
            theme: z.optional(z.enum(['light', 'dark'])),
          }),
        ),
      ),
      mimeType: z.optional(z.string()),
      size: z.optional(z.number()),
      title: z.optional(z.string()),
    }),
    openObject({
      type: z.literal('resource'),
      resource: z.union([
        openObject({ text: z.string(), uri: z.string(), mimeType: z.optional(z.string()) }),
        openObject({ blob: z.string(), uri: z.string(), mimeType: z.optional(z.string()) }),
      ]),
    }),
  ]),
);
