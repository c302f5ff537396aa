/** The version of the wire protocol spoken here. */
export const protocolVersion = 3;
