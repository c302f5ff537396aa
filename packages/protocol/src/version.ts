/** The version of the wire protocol spoken here. */
export const protocolVersion = 3;

/** The oldest version that can be asked for instead. */
export const oldestProtocolVersion = 2;

/** Whether a client can work with a runtime that answered with this version. */
export function isSupportedVersion(version: number): boolean {
  return version >= oldestProtocolVersion && version <= protocolVersion;
}
