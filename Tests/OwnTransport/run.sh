#!/bin/sh
# An app without the package's trait HTTP: it fetches no HTTP client, reads a site from a folder and by a transport of its own, and
# gets an error with advice for a URL. Fails unless each of these was observed.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
build_command
scratch=$PWD/.build/own-transport
set -- --package-path Tests/OwnTransport --scratch-path "$scratch"
swift build "$@" --product own-transport
app=$(swift build "$@" --show-bin-path)/own-transport
for package in "$scratch"/checkouts/*; do
    case $package in */async-http-client | */swift-nio*) fail "$package was fetched" ;; esac
done

make_work_folder
cd "$work"
mkdir -p assets/one
echo "hello from a pack" >assets/one/hello.txt
run init vault
run publish vault --pack levels/one=assets/one
"$app" vault/site vault/trusted-root.json vault/keys/vault.jwks store levels/one hello.txt | tee output
[ "$(grep -c "hello from a pack" output)" = 2 ] || fail "a transport does not read the site"
grep -q "^usage enable the package's trait HTTP" output || fail "a URL without a transport has another error"
