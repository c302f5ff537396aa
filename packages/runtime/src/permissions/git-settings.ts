import { gitReads } from './shell/programs/git-reads.js';

/** The settings of a git configuration that decide what git does beyond its command line. */
export interface GitSettings {
  /** The first setting that may make git run something, or work elsewhere. */
  readonly foreign?: string;
  /** The first setting by which a push forces or deletes more than its words say. */
  readonly forcing?: string;
  /** Every such setting with its value; of a file that cannot be read, all of it. */
  readonly deciding: readonly string[];
  /** Where hooks are taken from, if that is another place. */
  readonly hooksPath?: string;
  /** Where each remote repository is, by its name. */
  readonly remotes: ReadonlyMap<string, readonly string[]>;
}

/** Reads a file of settings; what cannot be read is foreign. */
export function readGitSettings(
  text: string | undefined,
  isOwnWorkTree: (path: string) => boolean = () => false,
): GitSettings {
  const remotes = new Map<string, string[]>();
  let foreign: string | undefined;
  let forcing: string | undefined;
  let hooksPath: string | undefined;
  const deciding: string[] = [];
  for (const setting of text === undefined ? [] : settingsIn(text)) {
    if (typeof setting === 'string') {
      foreign ??= setting;
      deciding.push(text ?? '');
      break;
    }
    const { section, subsection, name, value } = setting;
    const key = `${section}.${name}`;
    const isPlain = key === 'core.worktree' ? isOwnWorkTree(value) : isHarmless(setting);
    if (!isPlain) {
      foreign ??= key;
      deciding.push(`${section}.${subsection ?? ''}.${name}=${value}`);
    }
    if (key === 'core.hookspath') hooksPath = value;
    if ((key === 'remote.push' && !/^[^+:][^:]*(?::[^:]+)?$/.test(value)) || key === 'remote.mirror')
      forcing ??= key;
    if (/^remote\.(?:push)?url$/.test(key))
      remotes.set(subsection ?? '', [...(remotes.get(subsection ?? '') ?? []), value]);
  }
  return {
    ...(foreign !== undefined && { foreign }),
    ...(forcing !== undefined && { forcing }),
    deciding,
    ...(hooksPath !== undefined && { hooksPath }),
    remotes,
  };
}

/** The settings of a file one by one; a sentence for what could not be read, after which nothing counts. */
function* settingsIn(text: string): Generator<Setting | string> {
  if (text.length > longestFile) {
    yield 'it is too long';
    return;
  }
  let section = '';
  let subsection: string | undefined;
  for (const line of text.split('\n')) {
    if (/^\s*(?:[#;].*)?\r?$/.test(line)) continue;
    const header = /^\s*\[([\w.-]+)(?:\s+"([^"\\]*)")?\]\s*\r?$/.exec(line);
    if (header) {
      section = (header[1] ?? '').toLowerCase();
      subsection = header[2];
      continue;
    }
    const setting = /^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$/.exec(line);
    const name = (setting?.[1] ?? '').toLowerCase();
    const value = (setting?.[2] ?? 'true').trim();
    if (!setting || value.endsWith('\\')) {
      yield setting ? `${section}.${name}` : 'it could not be read';
      return;
    }
    yield { section, subsection, name, value };
  }
}

const longestFile = 256 * 1024;

interface Setting {
  readonly section: string;
  readonly subsection: string | undefined;
  readonly name: string;
  readonly value: string;
}

/** Settings by section; `null` is any of them. What names a program, a file of settings or another place is not here. */
const harmless: ReadonlyMap<string, ReadonlySet<string> | null> = new Map([
  [
    'core',
    names(
      'repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf eol safecrlf ' +
        'abbrev bigfilethreshold commentchar quotepath compression untrackedcache preloadindex longpaths protectntfs ' +
        'protecthfs checkstat trustctime multipackindex commitgraph sparsecheckout sparsecheckoutcone whitespace ' +
        'sharedrepository fscache splitindex hookspath fsmonitor deltabasecachelimit packedgitlimit',
    ),
  ],
  ['extensions', names('worktreeconfig objectformat refstorage preciousobjects compatobjectformat')],
  [
    'remote',
    names(
      'url fetch pushurl tagopt prune mirror skipdefaultupdate skipfetchall push gh-resolved followremotehead',
    ),
  ],
  [
    'diff',
    names(
      'renames renamelimit algorithm mnemonicprefix colormoved noprefix context interhunkcontext indentheuristic wserrorhighlight statgraphwidth',
    ),
  ],
  ['status', names('showuntrackedfiles relativepaths short branch showstash aheadbehind renames')],
  ['log', names('date decorate follow abbrevcommit mailmap excludedecoration initialdecorationset')],
  ['merge', names('conflictstyle ff renames log stat directoryrenames')],
  ['submodule', names('active url branch ignore shallow')],
  ['user', names('name email signingkey useconfigonly')],
  ['init', names('defaultbranch')],
  ['commit', names('gpgsign verbose status cleanup')],
  ['tag', names('gpgsign sort')],
  [
    'gc',
    names(
      'auto autodetach autopacklimit pruneexpire reflogexpire reflogexpireunreachable worktreepruneexpire logexpiry',
    ),
  ],
  ['blame', names('coloring date showemail showroot blankboundary markunblamablelines markignoredlines')],
  ['lfs', names('repositoryformatversion access locksverify')],
  ['pull', names('rebase ff autostash')],
  [
    'branch',
    names(
      'remote merge rebase pushremote description autosetupmerge autosetuprebase sort gh-merge-base vscode-merge-base github-pr-owner-number',
    ),
  ],
  ...'author committer push fetch rebase rerere pack index color column advice feature http alias grep format transfer stash checkout'
    .split(' ')
    .map((name) => [name, null] as const),
]);

function names(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}

function isHarmless({ section, subsection, name, value }: Setting): boolean {
  const known = harmless.get(section);
  if (known === undefined || (known !== null && !known.has(name))) return false;
  // `[diff "x"]` and `[merge "x"]` are drivers.
  if (subsection !== undefined && (section === 'diff' || section === 'merge' || section === 'core'))
    return false;
  // Newer releases let an alias stand for a sub-command that they mean to drop.
  if (section === 'alias') return !gitReads.has(subsection?.toLowerCase() ?? name);
  if (section === 'core' && name === 'fsmonitor') return /^(?:true|false|)$/i.test(value);
  if (section === 'core' && name === 'bare') return /^false$/i.test(value);
  return true;
}
