import * as z from 'zod/mini';
import { once, oneOf, openObject, type Value } from './schema.js';

/** What a user added to a prompt, as the log keeps it. */
export const attachment = once(() =>
  oneOf('type', [
    openObject({ ...file(), displayName: z.string() }),
    openObject({ ...directory(), displayName: z.string() }),
    openObject({ ...selection(), displayName: z.string(), selection: textRange(), text: z.string() }),
    openObject({ ...blob(), displayName: z.optional(z.string()) }),
    extensionContext(),
    ...repositoryAttachments(),
  ]),
);

/** An attachment of a `user.message`. */
export type Attachment = Value<typeof attachment>;

/** The same as clients send it: what can be derived from the path may be missing, and whatever may be missing may be null. */
export const sentAttachment = once(() =>
  oneOf('type', [
    openObject({ ...file(), displayName: z.nullish(z.string()) }),
    openObject({ ...directory(), displayName: z.nullish(z.string()) }),
    openObject({
      ...selection(),
      displayName: z.nullish(z.string()),
      selection: z.nullish(textRange()),
      text: z.nullish(z.string()),
    }),
    openObject({ ...blob(), displayName: z.nullish(z.string()) }),
    extensionContext(),
    ...repositoryAttachments(),
  ]),
);

/** An attachment of `session.send`. */
export type SentAttachment = Value<typeof sentAttachment>;

/** Why the bytes of an attachment or of a tool's output are not there. */
export const omittedReason = once(() => z.enum(['too_large', 'asset_unavailable']));

const file = () => ({
  type: z.literal('file'),
  path: z.string(),
  assetId: z.nullish(z.string()),
  byteLength: z.nullish(z.number()),
  lineRange: z.nullish(lineRange()),
  mimeType: z.nullish(z.string()),
  omittedReason: z.nullish(omittedReason()),
  taggedFilesEntry: z.nullish(z.string()),
});

const directory = () => ({
  type: z.literal('directory'),
  path: z.string(),
  taggedFilesEntry: z.nullish(z.string()),
});

const selection = () => ({
  type: z.literal('selection'),
  filePath: z.string(),
});

const blob = () => ({
  type: z.literal('blob'),
  mimeType: z.string(),
  assetId: z.nullish(z.string()),
  byteLength: z.nullish(z.number()),
  /** Base64; absent when the bytes are stored apart or were left out. */
  data: z.nullish(z.string()),
  omittedReason: z.nullish(omittedReason()),
});

const extensionContext = once(() =>
  openObject({
    type: z.literal('extension_context'),
    capturedAt: z.string(),
    extensionId: z.string(),
    title: z.string(),
    canvasId: z.nullish(z.string()),
    instanceId: z.nullish(z.string()),
    payload: z.nullish(z.unknown()),
  }),
);

const textRange = once(() => openObject({ start: textPosition(), end: textPosition() }));
const textPosition = once(() => openObject({ line: z.number(), character: z.number() }));
const lineRange = once(() => openObject({ start: z.number(), end: z.number() }));

/** Things of a code host, each with its `url`. */
function repositoryAttachments() {
  const url = z.string();
  const repo = openObject({ name: z.string(), owner: z.string(), id: z.nullish(z.number()) });
  const fileAtRef = { path: z.string(), ref: z.string(), repo };
  const tree = openObject({ repo, revision: z.string() });
  return [
    openObject({
      type: z.literal('github_reference'),
      url,
      number: z.number(),
      referenceType: z.enum(['issue', 'pr', 'discussion']),
      state: z.string(),
      title: z.string(),
    }),
    openObject({ type: z.literal('github_commit'), url, repo, message: z.string(), oid: z.string() }),
    openObject({ type: z.literal('github_release'), url, repo, name: z.string(), tagName: z.string() }),
    openObject({
      type: z.literal('github_actions_job'),
      url,
      repo,
      jobId: z.number(),
      jobName: z.string(),
      workflowName: z.string(),
      conclusion: z.nullish(z.string()),
    }),
    openObject({
      type: z.literal('github_repository'),
      url,
      repo,
      description: z.nullish(z.string()),
      ref: z.nullish(z.string()),
    }),
    openObject({
      type: z.literal('github_file_diff'),
      url,
      base: z.nullish(openObject(fileAtRef)),
      head: z.nullish(openObject(fileAtRef)),
    }),
    openObject({ type: z.literal('github_tree_comparison'), url, base: tree, head: tree }),
    openObject({ type: z.literal('github_url'), url }),
    openObject({ type: z.literal('github_file'), url, ...fileAtRef }),
    openObject({
      type: z.literal('github_snippet'),
      url,
      ...fileAtRef,
      lineRange: lineRange(),
    }),
  ] as const;
}
