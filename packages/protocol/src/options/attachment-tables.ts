import type { SentAttachment } from '../attachment.js';
import { object, type Support, type SupportOf, type SupportTable, used, variants } from './support.js';

type Kind = SentAttachment['type'];
type Of<K extends Kind> = Extract<SentAttachment, { readonly type: K }>;

const lineRange = object({ start: used, end: used });
const position = object({ line: used, character: used });
const repo = object({ name: used, owner: used, id: used });
const fileAtRef = { path: used, ref: used, repo };
const tree = object({ repo, revision: used });

/** What a user may add to a prompt, each with its fields: one that is missing here does not compile. */
const byType: { readonly [K in Kind]: SupportOf<Of<K>> & SupportTable } = {
  file: {
    type: used,
    path: used,
    displayName: used,
    assetId: used,
    byteLength: used,
    lineRange,
    mimeType: used,
    omittedReason: used,
    taggedFilesEntry: used,
  },
  directory: { type: used, path: used, displayName: used, taggedFilesEntry: used },
  selection: {
    type: used,
    filePath: used,
    displayName: used,
    selection: object({ start: position, end: position }),
    text: used,
  },
  blob: {
    type: used,
    mimeType: used,
    displayName: used,
    assetId: used,
    byteLength: used,
    data: used,
    omittedReason: used,
  },
  extension_context: {
    type: used,
    capturedAt: used,
    extensionId: used,
    title: used,
    canvasId: used,
    instanceId: used,
    payload: used,
  },
  github_reference: { type: used, url: used, number: used, referenceType: used, state: used, title: used },
  github_commit: { type: used, url: used, repo, message: used, oid: used },
  github_release: { type: used, url: used, repo, name: used, tagName: used },
  github_actions_job: {
    type: used,
    url: used,
    repo,
    jobId: used,
    jobName: used,
    workflowName: used,
    conclusion: used,
  },
  github_repository: { type: used, url: used, repo, description: used, ref: used },
  github_file_diff: { type: used, url: used, base: object(fileAtRef), head: object(fileAtRef) },
  github_tree_comparison: { type: used, url: used, base: tree, head: tree },
  github_url: { type: used, url: used },
  github_file: { type: used, url: used, ...fileAtRef },
  github_snippet: { type: used, url: used, ...fileAtRef, lineRange },
};

/** What becomes of each field of an attachment. */
export const attachments: Support = variants(byType);
