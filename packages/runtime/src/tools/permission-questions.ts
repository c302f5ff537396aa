import type { LaterQuestion, PermissionQuestion, PermissionRequest } from '../permissions/question.js';
import type { Place } from '../workspace/paths.js';

type WriteRequest = Extract<PermissionRequest, { kind: 'write' }>;

/** Permission to read; a place outside the allowed directories is a question of its own, before. */
export function permissionToRead(
  places: readonly Place[],
  intention: (place: Place) => string,
): readonly PermissionQuestion[] {
  return places.flatMap((place) => {
    const request = { kind: 'read' as const, intention: intention(place), path: place.path };
    return [
      ...permissionToLeaveDirectories(place, { request, accessKind: 'read' }),
      { request, ...realPlace(place) },
    ];
  });
}

/** Permission to write what `change` says; a file outside the allowed directories is not even read before there is permission for it. */
export async function permissionToWrite(
  place: Place,
  change: () => Promise<Pick<WriteRequest, 'intention' | 'diff' | 'newFileContents'>>,
): Promise<readonly (PermissionQuestion | LaterQuestion)[]> {
  const ask = async (): Promise<PermissionQuestion> => ({
    request: { kind: 'write', fileName: place.path, canOfferSessionApproval: true, ...(await change()) },
    ...realPlace(place),
  });
  if (place.isInside) return [await ask()];
  const request = { kind: 'read' as const, intention: `Read file: ${place.path}`, path: place.path };
  return [...permissionToLeaveDirectories(place, { request, accessKind: 'write' }), ask];
}

function permissionToLeaveDirectories(
  place: Place,
  wish: { readonly request: PermissionRequest; readonly accessKind: 'read' | 'write' },
): readonly PermissionQuestion[] {
  if (place.isInside) return [];
  const paths = [...new Set([place.path, place.real])];
  return [{ request: wish.request, prompt: { kind: 'path', accessKind: wish.accessKind, paths } }];
}

/** Where a link led: what is opened later is that, wherever the link leads then. */
function realPlace({ path, real }: Place): Pick<PermissionQuestion, 'real'> {
  return path === real ? {} : { real: [real] };
}
