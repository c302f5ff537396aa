import { basename } from 'node:path';

/** Whether programs take commands, settings or names of other files from what is written there. */
export function steersPrograms(path: string): boolean {
  if (steeringFiles.has(basename(path).toLowerCase())) return true;
  return path.split('/').some((name) => steeringDirectories.has(name.toLowerCase()));
}

/** File systems that ignore case have them by any spelling. */
const steeringDirectories: ReadonlySet<string> = new Set(
  '.git .ssh .husky .githooks .config .cargo .gnupg .direnv .docker .kube .aws bin sbin .bin shims'.split(
    ' ',
  ),
);

const steeringFiles: ReadonlySet<string> = new Set(
  (
    'package.json makefile gnumakefile justfile .justfile rakefile build.gradle build.gradle.kts settings.gradle pom.xml build.xml ' +
    'cargo.toml build.rs build.ninja cmakelists.txt pyproject.toml setup.py setup.cfg tox.ini noxfile.py conftest.py sitecustomize.py ' +
    '.npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml deno.json deno.jsonc gemfile composer.json mix.exs ' +
    '.gitattributes .gitmodules .gitconfig .gitignore .lfsconfig .mailmap .envrc .tool-versions mise.toml .mise.toml ' +
    '.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .inputrc .curlrc .wgetrc .netrc ' +
    '.magic .jq .ripgreprc .npmignore dockerfile docker-compose.yml docker-compose.yaml compose.yml compose.yaml'
  ).split(' '),
);
