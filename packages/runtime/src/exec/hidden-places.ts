import {
  accessSync,
  constants,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { isWithin } from '../workspace/paths.js';
import type { HiddenPlace, Mount } from './mount-plan.js';

/** The user for whom a narrow view is made. */
export interface NarrowViewUser {
  /** The user's own homes: the one the environment names, and the one the system knows. */
  readonly homes: readonly string[];
  /** The `PATH`: directories with the user's tools. */
  readonly searchPath: string;
}

/** The user's homes, as they really are. */
export function ownHomes(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const named = [environment.HOME, homedir(), knownHome()];
  const real = named.flatMap((home) => (home ? [realOf(home)] : []));
  return [...new Set(real.filter((home) => home !== undefined && home !== '/'))] as string[];
}

/** Keys, tokens, passwords and cookies in the user's homes; and those of the system that this user, such as root, may read. */
export function keyPlaces(homes: readonly string[]): readonly HiddenPlace[] {
  const ofUser = homes.flatMap((home) => keyNames.map((name) => join(home, name)));
  const ofHost = namesIn('/etc/ssh').filter((name) => /^ssh_host_.*_key$/.test(name));
  const ofSystem = [...systemKeys, ...ofHost.map((name) => join('/etc/ssh', name))].filter(isReadable);
  return [...ofUser, ...ofSystem].flatMap(placeOf);
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    // Not there, or closed to this user and so to a child.
    return false;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const systemKeys: readonly string[] = [
  '/etc/shadow',
  '/etc/shadow-',
  '/etc/gshadow',
  '/etc/gshadow-',
  '/etc/ssl/private',
  '/etc/pki/tls/private',
  '/etc/letsencrypt',
  '/etc/krb5.keytab',
  '/etc/wireguard',
  '/etc/NetworkManager/system-connections',
  '/etc/kubernetes',
  '/etc/rancher',
  '/etc/docker/key.json',
];

/** Directories with homes of other users; the user's own is shown on top of them. */
export function otherHomes(homes: readonly string[]): readonly HiddenPlace[] {
  const common = ['/home', '/root', '/Users', '/var/home', '/export/home'].flatMap(placeOf);
  const alone = homesOfOthers()
    .flatMap(placeOf)
    .filter(({ path }) => !isSystem(path) && !common.some((each) => isWithin(each.path, path)))
    .filter(({ path }) => !homes.some((home) => isWithin(path, home)));
  return [...common, ...alone].filter(({ path, isDirectory }) => isDirectory && !homes.includes(path));
}

/** Sockets of programs outside: a child that can open one can ask the program for anything, also on a read-only disk. */
export function socketPlaces(): readonly HiddenPlace[] {
  const names = new Set<string>();
  for (const line of textOf('/proc/net/unix').split('\n')) {
    const name = /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1];
    if (name !== undefined && names.size < mostSockets) names.add(name);
  }
  return [...names].flatMap(placeOf).filter(({ isDirectory }) => !isDirectory);
}

/** What of `/run` programs need that is neither a socket nor a secret. */
export function runPlaces(): readonly string[] {
  const resolver = realOf('/etc/resolv.conf');
  const kept = [
    '/run/current-system',
    '/run/wrappers',
    '/run/booted-system',
    ...(resolver === undefined ? [] : [resolver]),
  ];
  return kept.filter((path) => isWithin('/run', path) && kindOf(path) !== undefined);
}

/** The parts of a disk that a narrow view shows: the system, and the tools on the search path. */
export function systemParts({ homes, searchPath }: NarrowViewUser): readonly Mount[] {
  const parts = systemNames().map(partOf);
  const isShown = (path: string) => systemNames().some((name) => isWithin(name, path));
  const tools = searchPath
    .split(':')
    .flatMap((place) => (place.startsWith('/') ? [realOf(place)] : []))
    .filter((place) => place !== undefined)
    .map((place) => (/\/s?bin$/.test(place) && !isTooWide(dirname(place), homes) ? dirname(place) : place))
    .filter((place) => !isTooWide(place, homes) && !isShown(place));
  const settings = homes.flatMap((home) =>
    ['.gitconfig', '.config/git/config'].map((name) => realOf(join(home, name))),
  );
  const more = [...tools, ...settings.filter((path) => path !== undefined)];
  return [...parts, ...[...new Set(more)].map((path): Mount => ({ type: 'read-only', path }))];
}

/** The real path of a place, with links followed; empty when nothing is there. */
export function placeOf(path: string): readonly HiddenPlace[] {
  const real = realOf(path);
  const kind = real === undefined ? undefined : kindOf(real);
  return real === undefined || kind === undefined ? [] : [{ path: real, isDirectory: kind === 'directory' }];
}

/** Where a path leads; undefined when that is nowhere. */
function realOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Not there, or not to be reached by this user: then not by a child either.
    return undefined;
  }
}

const mostSockets = 500;

const keyNames: readonly string[] = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.oci',
  '.kube',
  '.docker',
  '.netrc',
  '.npmrc',
  '.yarnrc.yml',
  '.pypirc',
  '.pgpass',
  '.my.cnf',
  '.s3cfg',
  '.boto',
  '.vault-token',
  '.databrickscfg',
  '.git-credentials',
  '.authinfo',
  '.authinfo.gpg',
  '.rclone.conf',
  '.fly',
  '.kaggle',
  '.snowflake',
  '.huggingface',
  '.cache/huggingface/token',
  '.cache/huggingface/stored_tokens',
  '.nuget/NuGet/NuGet.Config',
  '.config/NuGet/NuGet.Config',
  '.config/heroku',
  '.config/stripe',
  '.electrum',
  '.bitcoin',
  '.ethereum',
  // What users typed has keys in it.
  '.bash_history',
  '.zsh_history',
  '.python_history',
  '.node_repl_history',
  '.psql_history',
  '.mysql_history',
  '.sqlite_history',
  '.rediscli_history',
  '.local/share/fish/fish_history',
  '.password-store',
  '.Xauthority',
  '.ICEauthority',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.m2/settings.xml',
  '.m2/settings-security.xml',
  '.gradle/gradle.properties',
  '.composer/auth.json',
  '.terraform.d/credentials.tfrc.json',
  '.config/gcloud',
  '.config/gh',
  '.config/hub',
  '.config/glab-cli',
  '.config/git/credentials',
  '.config/composer/auth.json',
  '.config/containers/auth.json',
  '.config/rclone',
  '.config/op',
  '.config/sops',
  '.config/age',
  '.config/doctl',
  '.config/hcloud',
  '.config/github-copilot',
  '.config/google-chrome',
  '.config/chromium',
  '.config/BraveSoftware',
  '.mozilla',
  '.thunderbird',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.copilot',
  '.groundcrew',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.gemini/oauth_creds.json',
  'Library/Keychains',
  'Library/Cookies',
  'Library/Application Support/Google/Chrome',
  'Library/Application Support/Firefox',
];

/** Directories of the root that hold programs and their settings, not users' files. */
function systemNames(): readonly string[] {
  const fixed = ['bin', 'sbin', 'usr', 'etc', 'opt', 'nix', 'gnu', 'snap', 'sys'];
  return readdirSync('/')
    .filter((name) => fixed.includes(name) || /^lib[\dx]*$/.test(name))
    .map((name) => `/${name}`);
}

function partOf(path: string): Mount {
  if (lstatSync(path).isSymbolicLink()) return { type: 'link', path, source: readlinkSync(path) };
  return { type: 'read-only', path };
}

function isSystem(path: string): boolean {
  return path === '/' || systemNames().some((name) => isWithin(path, name) || isWithin(name, path));
}

/** Too much lies in it to be shown for the sake of one tool. */
function isTooWide(path: string, homes: readonly string[]): boolean {
  return path === '/' || homes.some((home) => isWithin(path, home)) || dirname(path) === '/';
}

/** The home that the system knows; it need not know the user at all. */
function knownHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    // A user without an entry, as in many containers.
    return undefined;
  }
}

/** Users whose accounts the system knows. */
function homesOfOthers(): readonly string[] {
  const own = process.getuid?.();
  return textOf('/etc/passwd')
    .split('\n')
    .map((line) => line.split(':'))
    .filter(([, , uid]) => Number(uid) >= 1000 && Number(uid) !== own && Number(uid) < 65_534)
    .flatMap(([, , , , , home = '']) => (/^\/[^/]+\/./.test(home) ? [home] : []));
}

function kindOf(path: string): 'directory' | 'other' | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  return stats.isDirectory() ? 'directory' : 'other';
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not every system has it.
    return '';
  }
}
