/** The version of the wire protocol spoken here. */
export const protocolVersion = 3;

/** The oldest version that can be asked for instead. */
export const oldestProtocolVersion = 2;

/** A peer answers the one version it speaks; a client goes on only if this says yes. */
export function isSupportedVersion(version: number): boolean {
  return version >= oldestProtocolVersion && version <= protocolVersion;
}
