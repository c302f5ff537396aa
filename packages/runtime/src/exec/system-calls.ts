/** The numbers of some system calls on one architecture. */
interface Architecture {
  /** As the kernel's audit names it. */
  readonly id: number;
  /** Bits of a number that say which call it is. */
  readonly mask: number;
  /** Those that reach keyrings: these follow a process into every namespace. */
  readonly keyrings: readonly number[];
  readonly socket: number;
  /** Other ways to a socket, whose family cannot be seen. */
  readonly otherSockets: readonly number[];
}

const everyBit = 0xffff_ffff;
const ringSetup = 425;

const x64: Architecture = {
  id: 0xc000_003e,
  // The x32 calls have the same numbers with one more bit.
  mask: 0xbfff_ffff,
  keyrings: [248, 249, 250],
  socket: 41,
  otherSockets: [ringSetup],
};
const ia32: Architecture = {
  id: 0x4000_0003,
  mask: everyBit,
  keyrings: [286, 287, 288],
  socket: 359,
  otherSockets: [102, ringSetup],
};
const arm64: Architecture = {
  id: 0xc000_00b7,
  mask: everyBit,
  keyrings: [217, 218, 219],
  socket: 198,
  otherSockets: [ringSetup],
};
const arm: Architecture = {
  id: 0x4000_0028,
  mask: everyBit,
  keyrings: [309, 310, 311],
  socket: 281,
  otherSockets: [102, ringSetup],
};

/** Those a processor runs programs of. */
const architectures: Readonly<Partial<Record<NodeJS.Architecture, readonly Architecture[]>>> = {
  x64: [x64, ia32],
  ia32: [x64, ia32],
  arm64: [arm64, arm],
  arm: [arm64, arm],
};

/**
 * The filter of system calls for a sandbox, as the kernel reads it: no keyrings and, without the network, no sockets of families
 * that no network namespace holds. Undefined where the numbers of this processor are not known.
 */
export function systemCallFilter(hasNetwork: boolean): Buffer | undefined {
  const known = architectures[process.arch];
  if (known === undefined) return undefined;
  const blocks = known.flatMap((architecture) => blockOf(architecture, hasNetwork));
  return Buffer.concat([...blocks, answer(refuse(noSuchCall))]);
}

/** What is decided for programs of one architecture; others jump over it. */
function blockOf(architecture: Architecture, hasNetwork: boolean): readonly Buffer[] {
  const { id, mask, keyrings, socket, otherSockets } = architecture;
  const banned = hasNetwork ? keyrings : [...keyrings, ...otherSockets];
  const decisions = [
    load(offsets.number),
    step(codes.and, mask),
    ...banned.flatMap((number) => [unlessEqual(number, 1), answer(refuse(noSuchCall))]),
    ...(hasNetwork ? [] : familiesOf(socket)),
    answer(allow),
  ];
  return [load(offsets.architecture), unlessEqual(id, decisions.length), ...decisions];
}

/** Lets a socket be made of families that a network namespace holds, or that stay within the machine's own kernel. */
function familiesOf(socket: number): readonly Buffer[] {
  const decisions = [
    load(offsets.firstArgument),
    ...heldFamilies.flatMap((family) => [unlessEqual(family, 1), answer(allow)]),
    answer(refuse(noSuchFamily)),
  ];
  return [unlessEqual(socket, decisions.length), ...decisions];
}

/** Unix, IPv4, IPv6, netlink. */
const heldFamilies = [1, 2, 10, 16];

const codes = { load: 0x20, and: 0x54, jumpIfEqual: 0x15, answer: 0x06 };
const offsets = { number: 0, architecture: 4, firstArgument: 16 };
const allow = 0x7fff_0000;
const noSuchCall = 38;
const noSuchFamily = 97;

function refuse(error: number): number {
  return 0x0005_0000 + error;
}

function load(offset: number): Buffer {
  return step(codes.load, offset);
}

function answer(value: number): Buffer {
  return step(codes.answer, value);
}

/** Goes on where the value is this one, else leaves out some steps. */
function unlessEqual(value: number, leftOut: number): Buffer {
  return step(codes.jumpIfEqual, value, leftOut);
}

function step(code: number, value: number, leftOut = 0): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(leftOut, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
