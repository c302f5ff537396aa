/** The first setting of a file that may make git run something, or work elsewhere; undefined when there is none. */
export function foreignSetting(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text.length > longestFile) return 'it is too long';
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
    const isContinued = value.endsWith('\\');
    if (!setting || isContinued || !isHarmless({ section, subsection, name, value }))
      return setting ? `${section}.${name}` : 'it could not be read';
  }
  return undefined;
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
        'sharedrepository fscache splitindex excludesfile hookspath fsmonitor deltabasecachelimit packedgitlimit',
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
  ...'branch author committer pull push fetch rebase rerere gc pack index color column advice feature http alias blame grep format lfs transfer receive stash checkout'
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
  if (section === 'core' && name === 'fsmonitor') return /^(?:true|false|)$/i.test(value);
  if (section === 'core' && name === 'bare') return /^false$/i.test(value);
  return true;
}
