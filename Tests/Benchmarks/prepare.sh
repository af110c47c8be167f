# Sourced by the benchmarks, with $repository: fetches what is measured, installs the tools, and builds.
# shellcheck source=Samples/prerequisites.sh
. "$repository/Samples/prerequisites.sh"
cache=$repository/.build-benchmarks

# need_corpus NAME: the files of a Debian package, in corpora/NAME.
need_corpus() {
    corpus=$cache/corpora/$1
    ! [ -e "$corpus" ] || return 0
    echo "fetching the Debian package $1" >&2
    apt-cache show "$1" >/dev/null 2>&1 || $(command -v sudo || true) apt-get update -qq >&2
    download=$cache/download
    rm -rf "$download"
    mkdir -p "$download/files" "$cache/corpora"
    (cd "$download" && apt-get download -qq -o APT::Sandbox::User=root "$1") >&2
    dpkg-deb -x "$download/$1"_*.deb "$download/files"
    find "$download/files" -type l -delete # the command refuses links
    mv "$download/files" "$corpus"
    rm -rf "$download"
}

# need_history NAME VERSION...: the files of wheels, in histories/NAME/VERSION. All have one time of change, which
# spares the other tools a transfer of new times.
need_history() {
    name=$1
    shift
    for version in "$@"; do
        history=$cache/histories/$name/$version
        ! [ -e "$history" ] || continue
        echo "fetching $name $version from PyPI" >&2
        python3 -m pip --version >/dev/null 2>&1 || need_packages python3-pip
        download=$cache/download
        rm -rf "$download"
        mkdir -p "$download" "$cache/histories/$name"
        python3 -m pip download --quiet --no-deps --dest "$download" "$name==$version" >&2
        python3 -m zipfile -e "$download"/*.whl "$download/files"
        find "$download/files" -exec touch -d 2000-01-01 {} +
        mv "$download/files" "$history"
        rm -rf "$download"
    done
}

# need_containers: large single files of real content, in containers/KIND/VERSION.
need_containers() {
    ! [ -e "$cache/containers" ] || return 0
    echo "making containers of 1 GB" >&2
    rm -rf "$cache/making"
    python3 "$repository/Tests/Benchmarks/make-containers.py" "$cache/making" "$cache"/corpora/* "$cache"/histories/*/*
    mv "$cache/making" "$cache/containers"
}

# build: the command in `assetvault`, and the program of the benchmarks in `program`.
build() {
    build_command "$repository"
    swift build -c release --package-path "$repository/Tests/Benchmarks" --scratch-path "$cache/build" >&2
    program=$cache/build/release/benchmarks
}
