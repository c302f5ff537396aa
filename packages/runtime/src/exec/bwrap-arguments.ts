import type { Mount } from './mount-plan.js';

/** What bubblewrap is to make: what its child sees, and where it starts. */
export interface BwrapRequest {
  readonly mounts: readonly Mount[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly hasNetwork: boolean;
  /** What this system lets this user do. */
  readonly abilities: BwrapAbilities;
}

/** What bubblewrap can do for this user on this system; found out by trying. */
export interface BwrapAbilities {
  readonly userNamespace: boolean;
  readonly bansUserNamespaces: boolean;
  /** The kernel refuses the calls that lead out of namespaces. */
  readonly filtersCalls: boolean;
}

/** The arguments of bubblewrap before the program's own; pure. */
export function bwrapArguments(request: BwrapRequest): readonly string[] {
  const { mounts, workingDirectory, environment, hasNetwork, abilities } = request;
  const hidden = mounts.filter(({ type }) => type === 'empty').map(({ path }) => path);
  return [
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL'],
    ...(abilities.userNamespace ? ['--unshare-user'] : []),
    ...(abilities.bansUserNamespaces ? ['--disable-userns'] : []),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'],
    ...(hasNetwork ? [] : ['--unshare-net']),
    ...mounts.filter(isBase).flatMap(mountArguments),
    // What the kernel lets its owner set there is set for the whole machine, whatever namespaces there are.
    ...['--dev', '/dev', '--proc', '/proc', '--remount-ro', '/proc'],
    ...mounts.filter((mount) => !isBase(mount)).flatMap(mountArguments),
    // Not before everything in them is in its place.
    ...hidden.flatMap((path) => ['--remount-ro', path]),
    ...(mounts.some(({ path }) => path === '/') ? [] : ['--remount-ro', '/']),
    ...['--chdir', workingDirectory, '--clearenv'],
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** The disk itself comes before the devices and processes that are laid over it. */
function isBase({ path }: Mount): boolean {
  return path === '/';
}

function mountArguments({ type, path, source = path }: Mount): readonly string[] {
  switch (type) {
    case 'empty':
      return ['--tmpfs', path];
    case 'blank':
      return ['--ro-bind', '/dev/null', path];
    case 'writable':
      return ['--bind', source, path];
    case 'read-only':
      return ['--ro-bind', source, path];
    case 'link':
      return ['--symlink', source, path];
  }
}
