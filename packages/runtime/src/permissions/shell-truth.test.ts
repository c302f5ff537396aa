import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { judge, type PolicyRules } from './policy.js';
import { noSwitches } from './settings.js';
import { readShellCommand, shellRequest } from './shell-command.js';
import { examine } from './subject.js';

// Programs that write down that they ran: what bash itself runs is held against what was read in the text.
const markers = ['mark100', 'mark200', 'mark300', 'mark400'] as const;
const world = mkdtempSync(join(tmpdir(), 'shell-truth-'));
let runs = 0;
const bin = join(world, 'bin');

beforeAll(() => {
  mkdirSync(bin);
  mkdirSync(join(world, 'work'));
  for (const marker of markers) {
    writeFileSync(join(bin, marker), `#!/bin/sh\necho ${marker} >> "$LOG"\nexit 1\n`);
    chmodSync(join(bin, marker), 0o755);
  }
});
afterAll(async () => {
  // Some forms leave a program in the background: all of them must have ended before their world is removed.
  for (let tries = 0; tries < 100 && left().length > 0; tries += 1) await wait(100);
  expect(left()).toEqual([]);
  rmSync(world, { recursive: true });
});

/** Processes that have this world in their environment. */
function left(): readonly string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc').filter((id) => {
    try {
      return /^\d+$/.test(id) && readFileSync(`/proc/${id}/environ`, 'latin1').includes(`HOME=${world}`);
    } catch {
      // It has ended since, or is another user's.
      return false;
    }
  });
}

/** Runs a text in bash; the answer is what of the markers ran. */
function ranBy(text: string): readonly string[] {
  // A file of its own: what a run before this one left in the background writes elsewhere.
  const log = join(world, `log-${runs++}`);
  writeFileSync(log, '');
  writeFileSync(join(world, 'work', 'in'), 'x\n');
  try {
    execFileSync('timeout', ['-k', '1', '5', 'bash', '-c', `${text}\nwait`], {
      cwd: join(world, 'work'),
      env: { PATH: `${bin}:/usr/bin:/bin`, HOME: world, LOG: log },
      stdio: 'ignore',
    });
  } catch (error) {
    // `timeout` ends all that a text has started, and says so.
    if ((error as { status?: number }).status === 124) throw error;
  }
  return [...new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))];
}

const marker = fc.constantFrom(...markers);

/** Ways to have a command run whose name stands in the text. */
const plainForms: readonly ((name: string) => string)[] = [
  (name) => `${name} x`,
  (name) => `"${name}" x`,
  (name) => `\\${name}`,
  (name) => `${name.slice(0, 2)}''${name.slice(2)}`,
  (name) => `$'${name}'`,
  (name) => `$'\\x6d${name.slice(1)}'`,
  (name) => `${name.slice(0, 3)}\\\n${name.slice(3)}`,
  (name) => `${join(bin, name)}`,
  (name) => `true && ${name}`,
  (name) => `false || ${name}`,
  (name) => `! ${name}`,
  (name) => `time -p ${name}`,
  (name) => `{ ${name}; } &`,
  (name) => `(${name})`,
  (name) => `if ${name}; then :; fi`,
  (name) => `until ! ${name}; do break; done`,
  (name) => `case x in x) ${name};; esac`,
  (name) => `case $(${name}) in x) ;; esac`,
  (name) => `for f in $(${name}); do :; done`,
  (name) => `for ((i=$(${name}); 0; )); do :; done`,
  (name) => `[[ -n $(${name}) ]]`,
  (name) => `echo "\`${name}\`"`,
  (name) => `echo "\${x:-$(${name})}"`,
  (name) => `x=1; echo "\${x:+$(${name})}"`,
  (name) => `x=abc; echo "\${x/$(${name})/y}"`,
  (name) => `x=abc; echo \${x:$(${name}; echo 1)}`,
  (name) => `echo $((1 + $(${name}; echo 1)))`,
  (name) => `echo $[ $(${name}; echo 1) ]`,
  (name) => `((x = $(${name}; echo 1)))`,
  (name) => `a[$(${name}; echo 1)]=1`,
  (name) => `a=(1 $(${name}))`,
  (name) => `declare x=$(${name})`,
  (name) => `let x=$(${name}; echo 1)`,
  (name) => `x=$(${name}) true`,
  (name) => `cat <(${name})`,
  (name) => `cat <<E\n$(${name})\nE`,
  (name) => `cat <<-E\n\t$(${name})\n\tE`,
  (name) => `cat <<< "$(${name})"`,
  (name) => `true > "$(${name}; echo out)"`,
  (name) => `true 2> >(${name})`,
  (name) => `exec 3< <(${name})`,
  (name) => `coproc ${name}`,
  (name) => `coproc C { ${name}; }`,
  (name) => `f() { ${name}; }; f`,
  (name) => `function f { ${name}; }; f`,
  (name) => `echo x | ${name}`,
  (name) => `${name} |& cat`,
  (name) => `select a in x; do ${name}; break; done < in`,
];

/** Ways in which something else runs it; the text still says its name as that of a command. */
const wrappedForms: readonly ((name: string) => string)[] = [
  (name) => `env ${name}`,
  (name) => `env -i PATH="$PATH" LOG="$LOG" A=b ${name}`,
  (name) => `env -S "${name} x"`,
  (name) => `env --split-string="${name} x"`,
  (name) => `nohup ${name}`,
  (name) => `nice -n 1 ${name}`,
  (name) => `timeout -s KILL 3 ${name}`,
  (name) => `setsid -w ${name}`,
  (name) => `stdbuf -oL ${name}`,
  (name) => `echo x | xargs -n 1 ${name}`,
  (name) => `echo x | xargs -I{} sh -c '${name} {}'`,
  (name) => `find . -maxdepth 0 -exec ${name} {} \\;`,
  (name) => `find . -maxdepth 0 -exec sh -c '${name} "$1"' _ {} +`,
  (name) => `command -p ${join(bin, name)}`,
  (name) => `command ${name}`,
  (name) => `builtin eval '${name} x'`,
  (name) => `(exec -a other ${name})`,
  (name) => `eval ${name} x`,
  (name) => `eval '${name} x'`,
  (name) => `eval "eval '${name}'"`,
  (name) => `bash -c '${name}'`,
  (name) => `bash -lc "${name}" arg`,
  (name) => `sh -ec '${name}; true'`,
  (name) => `bash <<E\n${name}\nE`,
  (name) => `bash -s <<'E'\n${name}\nE`,
  (name) => `bash <<< '${name} x'`,
  (name) => `trap '${name}' EXIT`,
  (name) => `trap -- '${name}' EXIT`,
  (name) => `shopt -s expand_aliases; alias l='${name}'; eval l`,
  (name) => `script -qec '${name}' /dev/null`,
  (name) => `flock in ${name}`,
  (name) => `flock in -c '${name}'`,
  (name) => `tar -cf - in | tar -xf - --to-command=${name}`,
  (name) => `tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec=${name} in`,
  (name) => `split --filter='${name}' in`,
  (name) => `chroot / ${name}`,
  (name) => `env - PATH="$PATH" LOG="$LOG" ${name}`,
  (name) => `timeout --sig KILL 3 ${name}`,
  (name) => `ionice --class 3 ${name}`,
  (name) => `echo x | xargs --replace ${name} {}`,
  (name) => `sh -s arg <<E\n${name}\nE`,
  (name) => `bash -O extglob <<E\n${name}\nE`,
  (name) => `bash /dev/stdin <<< '${name} x'`,
  (name) => `. /dev/stdin <<< '${name} x'`,
  (name) => `eval ${name} "$HOME"`,
  (name) => `git init -q . && git bisect start && git bisect run ${name}`,
];

/** Ways in which the text hides what runs; these must never pass for harmless. */
const hiddenForms: readonly ((name: string) => string)[] = [
  (name) => `X=${name}; $X y`,
  (name) => `$(echo ${name}) y`,
  (name) => `p=${name.slice(0, 3)}; "$p${name.slice(3)}"`,
  (name) => `echo '${name} x' | bash`,
  (name) => `printf '${name}\\n' > s; bash s`,
  (name) => `printf '${name}\\n' > s; . ./s`,
  (name) => `printf '${name}\\n' > s; bash < s`,
  (name) => `x='$(${name})'; echo "\${x@P}"`,
  (name) => `x='a[$(${name})]'; [[ $x -eq 1 ]]`,
  (name) => `[ -v 'a[$(${name})]' ]`,
  (name) => `test -v 'a[$(${name})]'`,
  (name) => `printf -v 'a[$(${name})]' x`,
  (name) => `unset 'a[$(${name})]'`,
  (name) => `read 'a[$(${name})]' < in`,
  (name) => `x='a[$(${name})]'; echo $((x))`,
  (name) => `x='a[$(${name})]'; echo "\${!x}"`,
  (name) => `PS4='$(${name})'; set -x; :`,
  (name) => `BASH_ENV=<(echo ${name}) bash -c :`,
  (name) => `awk 'BEGIN { system("${name}") }'`,
  (name) => `awk 'BEGIN { "${name}" | getline }'`,
  (name) => `awk 'BEGIN { print | "${name}" }'`,
  (name) => `sed -n '1e ${name}' in`,
  (name) => `sed 's/x/${name}/e' in`,
  (name) => `git -c alias.y='!${name}' y`,
  (name) => `mapfile -C ${name} -c 1 a < in`,
  (name) => `enable -n ls; hash -p ${join(bin, name)} ls; ls`,
  (name) => `ls() { ${name}; }; ls`,
  (name) => `perl -e 'system("${name}")'`,
  (name) => `python3 -c 'import os; os.system("${name}")'`,
  (name) => `ls -d ./* | xargs ${name}`,
  (name) => `echo ${name} x | xargs env`,
  (name) => `echo ${name} x | xargs -I{} sh -c '{}'`,
  (name) => `bash <(echo ${name})`,
  (name) => `ln -sf "$(command -v ${name})" y && find . -name y -exec {} \\;`,
];

test('everything that bash runs by its name is in the list, however it is written', () => {
  const form = fc.constantFrom(...plainForms, ...wrappedForms);
  const around = fc.constantFrom(
    (text: string) => text,
    (text: string) => `(\n${text}\n)`,
    (text: string) => `if true; then\n${text}\nfi`,
    (text: string) => `f() {\n${text}\n}; f`,
    (text: string) => `echo $(\n${text}\n)`,
  );
  fc.assert(
    fc.property(marker, form, around, (name, write, wrap) => {
      const text = wrap(write(name));
      const listed = readShellCommand(text).commands.map(({ identifier }) => identifier.replace(/^.*\//, ''));
      expect({ text, missing: ranBy(text).filter((each) => !listed.includes(each)) }).toEqual({
        text,
        missing: [],
      });
    }),
    { numRuns: 150 },
  );
});

test.each([...plainForms, ...wrappedForms, ...hiddenForms].map((form) => [form('mark100')] as const))(
  '%j: what runs is listed, or the command is neither read-only nor approved in advance',
  (text) => {
    const { commands, canOfferSessionApproval } = readShellCommand(text);
    const isListed = commands.some(({ identifier }) => /(?:^|\/)mark100$/.test(identifier));
    const isHarmless = commands.length > 0 && commands.every(({ readOnly }) => readOnly);
    if (ranBy(text).includes('mark100') && !isListed)
      expect({ isHarmless, canOfferSessionApproval }).toEqual({
        isHarmless: false,
        canOfferSessionApproval: false,
      });
    expect(isHarmless).toBe(false);
  },
);

test.each([...wrappedForms, ...hiddenForms].map((form) => [form('mark100')] as const))(
  '%j is never approved in advance',
  (text) => {
    expect(readShellCommand(text).canOfferSessionApproval).toBe(false);
  },
);

/** Further ways to have a denied command run: evaluation, dynamic words, other names, languages of their own. */
const furtherForms: readonly ((name: string) => string)[] = [
  (name) => `x='a[$(${name})]'; ((x))`,
  (name) => `x='a[$(${name})]'; [[ x -eq 0 ]]`,
  (name) => `x='a[$(${name})]'; [[ 0 -lt $x ]]`,
  (name) => `x='a[$(${name})]'; let x`,
  (name) => `let 'a[$(${name})]=1'`,
  (name) => `x='a[$(${name})]'; y=\${z:x}`,
  (name) => `x='a[$(${name})]'; a[x]=1`,
  (name) => `x='a[$(${name})]'; echo \${a[x]}`,
  (name) => `declare -i y; x='a[$(${name})]'; y=x`,
  (name) => `declare -n r='a[$(${name})]'; echo $r`,
  (name) => `x='$(${name})'; echo \${x@P}`,
  (name) => `wait -n -p 'a[$(${name})]'`,
  (name) => `read -a 'a[$(${name})]' <<< x`,
  (name) => `mapfile 'a[$(${name})]' < in`,
  (name) => `for ((i='a[$(${name})]'; 0;)); do :; done`,
  (name) => `{${name},x}`,
  (name) => `set -- ${name}; "$1"`,
  (name) => `set -- ${name}; "$@"`,
  (name) => `set -- ' ${name}'; bash -c"$1"`,
  (name) => `//bin/bash -c '${name}'`,
  (name) => `/usr/bin/../bin/env ${name}`,
  (name) => `/bin/./sh -c '${name}'`,
  (name) => `/usr/bin/../../bin/bash -c '${name}'`,
  (name) => `bash -c '"$0"' ${name}`,
  (name) => `bash -c '$1' _ ${name}`,
  (name) => `bash -o errexit -c ${name}`,
  (name) => `bash --norc -c ${name}`,
  (name) => `bash -ce ${name}`,
  (name) => `bash +e -c ${name}`,
  (name) => `echo ${name} > s; sh ./s`,
  (name) => `BASH_ENV=s; echo ${name} > s; export BASH_ENV; bash -c :`,
  (name) => `PAGER=${name} git -p log`,
  (name) => `GIT_EDITOR=${name} git commit --allow-empty`,
  (name) => `EDITOR=${name} git commit --allow-empty`,
  (name) => `GIT_SSH_COMMAND=${name} git ls-remote ssh://x/y`,
  (name) => `git -c core.pager=${name} -p log`,
  (name) => `git config alias.q '!${name}'; git q`,
  (name) => `awk 'BEGIN{c="mark"; c=c 100; system(c)}' # ${name}`,
  (name) => `perl -e 'exec "${name}"'`,
  (name) => `printf 'all:\n\t${name}\n' > Makefile; make`,
  (name) => `printf 'x:\n\t${name}\n' | make -f - x`,
  (name) => `make --eval='$(shell ${name})'`,
  (name) => `find . -maxdepth 0 -execdir ${join(bin, name)} {} +`,
  (name) => `find . -maxdepth 0 -ok ${name} \\;`,
  (name) => `echo ${name} | xargs -I % %`,
  (name) => `echo ${name} | xargs -n1 sh -c '$0'`,
  (name) => `echo ${name} | xargs nice`,
  (name) => `sed '1e${name}' in`,
  (name) => `sed -n 's/.*/${name}/ep' in`,
  (name) => `tar -cf /dev/null -I'${name};cat' in`,
  (name) => `tar --use-comp='${name}' -cf /dev/null in`,
  (name) => `sort -S1 --compress-program=${name} in`,
  (name) => `env -S${name}`,
  (name) => `env -iS '${join(bin, name)}'`,
  (name) => `env LD_PRELOAD= ${name}`,
  (name) => `ln -sf /bin/bash b; ./b -c ${name}`,
  (name) => `cp /bin/sh q; ./q -c ${name}`,
  (name) => `node -e 'child_process.spawnSync("${name}")'`,
  (name) => `npm_config_script_shell=${name} npm exec -c x`,
  (name) => `trap ${name} DEBUG; :`,
  (name) => `PROMPT_COMMAND=${name}; :`,
  (name) => `command_not_found_handle() { ${name}; }; nothere`,
  (name) => `complete -C ${name} x; compgen -C ${name}`,
  (name) => `hash -p ${join(bin, name)} ls; ls`,
  (name) => `enable -f ./${name} x`,
  (name) => `exec -a x ${name}`,
  (name) => `builtin command eval ${name}`,
  (name) => `coproc C (${name})`,
  (name) => `time -p -- ${name}`,
  (name) => `! time ! ${name}`,
  (name) => `eval "$(echo ${name})"`,
  (name) => `eval {${name},x}`,
  (name) => `. <(echo ${name})`,
  (name) => `source /dev/stdin <<< ${name}`,
  (name) => `"$(printf %s ${name})"`,
  (name) => `$'\\155ark100' # ${name}`,
  (name) => `mark\${x}100 # ${name}`,
  (name) => `m?rk100 # ${name}`,
  (name) => `${bin}/m*100 # ${name}`,
  (name) => `x=(${name}); "\${x[0]}"`,
  (name) => `x=(${name}); \${x[@]}`,
  (name) => `f() { "$@"; }; f ${name}`,
  (name) => `alias ls=${name}; eval ls`,
  (name) => `script -c ${name} /dev/null`,
  (name) => `setarch -R ${name}`,
  (name) => `flock in -c ${name}`,
  (name) => `dash -c ${name}`,
  (name) => `unshare ${name}`,
  (name) => `timeout 3 sh -c ${name}`,
  (name) => `ionice -c3 ${name}`,
  (name) => `taskset 1 ${name}`,
  (name) => `git submodule foreach ${name}`,
  (name) => `git rebase -x ${name}`,
  (name) => `git difftool -x${name}`,
  (name) => `git filter-branch --tree-filter ${name}`,
  (name) => `rsync -e ${name} x y:z`,
  (name) => `ssh -oProxyCommand=${name} x`,
  (name) => `vim -c '!${name}'`,
  (name) => `ed <<< '!${name}'`,
  (name) => `sqlite3 :memory: '.shell ${name}'`,
  (name) => `python3 -c 'import os; os.system("${name}")'`,
  (name) => `expect -c 'spawn ${name}'`,
  (name) => `gdb -ex '!${name}'`,
  (name) => `man -P ${name} ls`,
  (name) => `zip -TT ${name} -T x in`,
  (name) => `split --filter=${name} in`,
  (name) => `tmux new ${name}`,
  (name) => `watch -g ${name}`,
  (name) => `cat in | while read l; do ${name}; done`,
];

const judged = async (command: string) => {
  const request = shellRequest({ command, intention: '' });
  const workingDirectory = join(world, 'work');
  const rules: PolicyRules = {
    deny: [{ kind: 'shell', argument: 'mark100' }],
    allow: [],
    approvals: [],
    ...noSwitches,
    mode: 'allow-all',
    canAsk: true,
    directories: [workingDirectory],
  };
  return judge(await examine({ request }, { toolName: 'bash', workingDirectory }), rules).type;
};

test.each(
  [...plainForms, ...wrappedForms, ...hiddenForms, ...furtherForms].map((form) => [form('mark100')] as const),
)('where a command is denied, no mode lets it run as %j', async (text) => {
  expect(await judged(text)).not.toBe('allow');
});

test.each([
  'ls -la',
  'cat a | grep -n b | wc -l',
  'mkdir -p x && cp a x/ && rm -r x',
  'rm x && ls $FLAGS',
  'echo "$HOME" > out',
  'for f in a b; do cat "$f"; done',
  'x=1; echo $x',
  'git status && git diff --stat',
  'git commit -m x',
  'git push origin main',
  'sudo ls',
  'timeout 5 cat a',
  "bash -c 'ls; pwd'",
  "sed -n 's/a/b/p' x",
  "awk '{print $1}' x",
  'find . -name x',
  'tar -czf x.tgz y',
  'curl -s https://example.com',
])('where another command is denied, the mode that allows all still lets %j run', async (text) => {
  expect(await judged(text)).toBe('allow');
});
