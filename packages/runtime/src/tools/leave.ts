import type { Place } from '../workspace/paths.js';
import type { PermissionQuestion, PermissionRequest } from './tool.js';

type ReadRequest = Extract<PermissionRequest, { kind: 'read' }>;
type WriteRequest = Extract<PermissionRequest, { kind: 'write' }>;

/** Leave to read; a place outside the allowed directories is a question of its own, before. */
export function leaveToRead(
  places: readonly Place[],
  intention: (place: Place) => string,
): readonly PermissionQuestion[] {
  return places.flatMap((place) => {
    const request: ReadRequest = { kind: 'read', intention: intention(place), path: place.path };
    return [...leaveToGoOutside(place, request), { request }];
  });
}

/** Leave to write; a place outside the allowed directories is a question of its own, before. */
export function leaveToWrite(
  place: Place,
  change: Pick<WriteRequest, 'intention' | 'diff' | 'newFileContents'>,
): readonly PermissionQuestion[] {
  const request: WriteRequest = {
    kind: 'write',
    fileName: place.path,
    canOfferSessionApproval: true,
    ...change,
  };
  return [...leaveToGoOutside(place, request), { request }];
}

function leaveToGoOutside(place: Place, request: ReadRequest | WriteRequest): readonly PermissionQuestion[] {
  if (place.isInside) return [];
  const paths = [...new Set([place.path, place.real])];
  return [{ request, prompt: { kind: 'path', accessKind: request.kind, paths } }];
}
