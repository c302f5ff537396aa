import type { Methods, Result } from '@groundcrew/protocol';
import type { Lack, NodeWait, SessionSummary } from '@groundcrew/store';

/** What lists say of a session. */
export function metadataOf({
  sessionId,
  head,
  waitsForNode,
}: SessionSummary): NonNullable<Result<Methods['session.getMetadata']>['session']> {
  const name = head.name ?? head.summary;
  return {
    sessionId,
    startTime: head.createdAt,
    modifiedTime: head.modifiedAt,
    isRemote: false,
    isDetached: false,
    clientName: head.clientName ?? 'sdk',
    context: head.context,
    ...(name !== undefined && { name, summary: name }),
    ...(waitsForNode && { waitingOn: [nodeWait(waitsForNode)] }),
  };
}

/** What clients receive about a session that no live node can go on with. */
export function nodeWait({ since, nodes }: NodeWait) {
  const texts = nodes.map(({ node, missing }) => `${node}: ${lackText(missing)}`);
  const message = `No live node can go on with this session (${texts.join('; ')})`;
  return { kind: 'node' as const, since, message, nodes };
}

/** What a node lacks, in words. */
export function lackText(missing: readonly Lack[]): string {
  return missing.map((lack) => lackTexts[lack.kind](lack.name)).join(', ');
}

const lackTexts: Readonly<Record<Lack['kind'], (name: string) => string>> = {
  label: (name) => `it needs a node with the label ${name}`,
  provider: (name) => `it needs the provider ${JSON.stringify(name)}`,
  directory: (name) => `its working directory ${name} is not here`,
  client: (name) => `${name} came with its client and are not stored: that client has to resume it`,
};
