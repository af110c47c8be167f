#!/bin/sh
# Builds the command for release and installs it with its manual pages and completions: Samples/install.sh [PREFIX]
# PREFIX is /usr/local by default; DESTDIR is put in front of it, as packagers expect.
set -eu
prefix=${1:-/usr/local}
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
build_command
to=${DESTDIR:-}$prefix

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$assetvault" "$work/assetvault"
command -v python3 >/dev/null 2>&1 || need_packages python3
python3 Tests/command-reference.py "$work/assetvault" --man "$work"
for shell in bash zsh fish; do
    "$work/assetvault" --generate-completion-script "$shell" >"$work/completion.$shell"
done

install -D -m 755 "$work/assetvault" "$to/bin/assetvault"
for page in "$work"/assetvault*.1; do install -D -m 644 "$page" "$to/share/man/man1/${page##*/}"; done
install -D -m 644 "$work/completion.bash" "$to/share/bash-completion/completions/assetvault"
install -D -m 644 "$work/completion.zsh" "$to/share/zsh/site-functions/_assetvault"
install -D -m 644 "$work/completion.fish" "$to/share/fish/vendor_completions.d/assetvault.fish"
echo "installed $to/bin/assetvault, its manual (man assetvault) and completions for bash, zsh and fish"
