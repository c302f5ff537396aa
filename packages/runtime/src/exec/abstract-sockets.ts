import { readFileSync } from 'node:fs';

/** Abstract sockets of Linux that programs listen on: with a name and no path, they belong to the network, not to the disk. */
export function abstractSockets(): readonly string[] {
  return listening(tableOfSockets());
}

/** A line has the flags in its fourth field and the name, with an `@` in front where it is no path, in its eighth. */
function listening(table: string): readonly string[] {
  const names = table.split('\n').flatMap((line) => {
    const [, , , flags = '', , , , name = ''] = line.trim().split(/\s+/);
    return name.startsWith('@') && (Number.parseInt(flags, 16) & acceptsConnections) !== 0 ? [name] : [];
  });
  return [...new Set(names)];
}

const acceptsConnections = 0x10000;

function tableOfSockets(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    // Other systems have no such sockets.
    return '';
  }
}
