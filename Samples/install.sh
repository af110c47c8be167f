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
# The argument parser's own tool writes the manual from the help texts of the command.
need_swift
swift package resolve >&2
manual="--package-path .build/checkouts/swift-argument-parser --scratch-path .build/manual -c release"
# shellcheck disable=SC2086 # a list of words
swift build $manual --product generate-manual >&2
# shellcheck disable=SC2086
"$(swift build $manual --show-bin-path)/generate-manual" "$work/assetvault" --multi-page --output-directory "$work"
for shell in bash zsh fish; do
    "$work/assetvault" --generate-completion-script "$shell" >"$work/completion.$shell"
done

install -D -m 755 "$work/assetvault" "$to/bin/assetvault"
for page in "$work"/assetvault*.1; do install -D -m 644 "$page" "$to/share/man/man1/${page##*/}"; done
install -D -m 644 "$work/completion.bash" "$to/share/bash-completion/completions/assetvault"
install -D -m 644 "$work/completion.zsh" "$to/share/zsh/site-functions/_assetvault"
install -D -m 644 "$work/completion.fish" "$to/share/fish/vendor_completions.d/assetvault.fish"
echo "installed $to/bin/assetvault, its manual (man assetvault) and completions for bash, zsh and fish"
