# Sourced by the scripts that must run on a fresh Debian machine: finds Swift, installs what is missing, shows what is run.

# need_swift: ends the script with advice where there is no Swift 6.2 or later.
need_swift() {
    if ! command -v swift >/dev/null 2>&1; then
        echo "Swift 6.2 or later is needed. Get it from https://www.swift.org/install/linux/debian/12/" >&2
        echo "unpack it, and put its usr/bin into PATH." >&2
        exit 69
    fi
    version=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' | head -n 1)
    case "$version" in
    6.[01] | [0-5].*)
        echo "Swift $version is too old: 6.2 or later is needed, from https://www.swift.org/install/" >&2
        exit 69
        ;;
    esac
}

# need_packages NAME...: installs the Debian packages that are missing, or says how.
need_packages() {
    missing=""
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    echo "installing:$missing" >&2
    if [ "$(id -u)" = 0 ]; then
        privilege=""
    elif command -v sudo >/dev/null 2>&1; then
        privilege="sudo"
    else
        echo "run this as root, then start again: apt-get update && apt-get install -y$missing" >&2
        exit 69
    fi
    # shellcheck disable=SC2086 # a list of words
    $privilege apt-get update -qq >&2 &&
        $privilege env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}

# What a build needs beside Swift.
build_packages="git pkg-config libssl-dev libarchive-dev"

# Options of the release build: with Swift's libraries in it, it starts sooner and runs where there is no Swift; without
# symbols it is a third as large.
shipped="-c release --static-swift-stdlib -Xlinker -s"

# build_command [REPOSITORY]: the command, in `assetvault`, unless ASSETVAULT_COMMAND names one.
# shellcheck disable=SC2086 # lists of words
build_command() {
    assetvault=${ASSETVAULT_COMMAND:-}
    [ -z "$assetvault" ] || return 0
    need_swift
    need_packages $build_packages
    swift build $shipped --package-path "${1:-.}" --product assetvault >&2
    assetvault=$(swift build $shipped --package-path "${1:-.}" --show-bin-path)/assetvault
}

# build_app NAME: the sample app Samples/NAME, in `app`. Its build shares the folder of the command's, so that what both need is compiled
# once; the build description in that folder is the other package's.
# shellcheck disable=SC2086 # a list of words
build_app() {
    set -- "$1" $shipped --package-path "Samples/$1" --scratch-path .build --disable-build-manifest-caching
    name=$1
    shift
    swift build "$@" --product "$name" >&2 || return 1
    app=$(swift build "$@" --show-bin-path)/$name
}

# step TEXT: a heading.
step() { printf '\n\033[1m%s\033[0m\n' "== $*"; }

# fail TEXT: ends the script.
fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# make_work_folder: a folder for the script, in `work`. When the script ends, the folder is removed, and the processes whose numbers are
# in `server` and `game` are ended.
make_work_folder() {
    work=$(mktemp -d)
    server=""
    game=""
    trap remove_work_folder EXIT
    trap 'exit 1' INT TERM
}
remove_work_folder() {
    for process in $game $server; do kill "$process" 2>/dev/null || true; done
    rm -rf "$work"
}

# run ARGUMENT...: the command, printed before.
run() {
    printf '$ assetvault %s\n' "$*" >&2
    "$assetvault" "$@"
}

# serve SITE OPTION...: a server in the background, its process in `server` and its address in `site`.
serve() {
    "$assetvault" serve "$@" >url &
    server=$!
    tries=0
    until [ -s url ]; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || fail "the server does not start"
        sleep 0.1
    done
    site=$(cat url)
}
