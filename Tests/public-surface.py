"""The public surface of the libraries, a declaration a line: public-surface.py BINARIES [--write]

Compares what the compiler knows of the modules that were just built with Tests/public-surface.txt, so that the surface never grows by
accident; --write makes that file again.
"""

import difflib
import glob
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
KEPT = ROOT / "Tests" / "public-surface.txt"
MODULES = ["AssetVault", "AssetVaultFoundation"]


def module_maps(binaries):
    patterns = [
        f"{ROOT}/.build/checkouts/*/Sources/*/include/module.modulemap", f"{binaries}/*.build/module.modulemap",
        f"{ROOT}/Sources/CVault*/module.modulemap"]
    return [path for pattern in patterns for path in sorted(glob.glob(pattern))]


def declarations(binaries, module):
    target = json.loads(subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True).stdout)
    arguments = ["-module-name", module, "-target", target["target"]["unversionedTriple"]]
    arguments += ["-minimum-access-level", "public", "-skip-synthesized-members", "-I", f"{binaries}/Modules"]
    for path in module_maps(binaries):
        arguments += ["-Xcc", f"-fmodule-map-file={path}"]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["swift-symbolgraph-extract", *arguments, "-output-dir", folder], check=True)
        # Beside the module's own types there is a file for each module that it extends.
        for path in sorted(pathlib.Path(folder).iterdir()):
            for symbol in json.loads(path.read_text())["symbols"]:
                text = "".join(part["spelling"] for part in symbol["declarationFragments"])
                place = ".".join([module, *symbol["pathComponents"][:-1]])
                found.append(f"{place}: {' '.join(text.split())}")
    return sorted(set(found))


def main():
    binaries = pathlib.Path(sys.argv[1]).resolve()
    surface = [line + "\n" for module in MODULES for line in declarations(binaries, module)]
    if sys.argv[2:] == ["--write"]:
        KEPT.write_text("".join(surface))
        return 0
    difference = list(difflib.unified_diff(KEPT.read_text().splitlines(True), surface, KEPT.name, "built", n=0))
    sys.stderr.writelines(difference)
    if difference:
        print("the public surface has changed; where that is meant, make the file again with --write", file=sys.stderr)
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
