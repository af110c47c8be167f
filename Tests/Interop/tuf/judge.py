"""python-tuf as a judge of our sites.

    judge.py SITE ROOT TARGET OUT [--cache DIR] [--role NAME]

Serves the folder SITE on loopback, refreshes with python-tuf from the root file ROOT, and downloads
TARGET to the file OUT. Prints the trusted versions and the target as one line of JSON. With --cache the
client's metadata is kept from one call to the next, as a real client's is. With --role the target is
looked up in this delegated role alone, which python-tuf verifies as a delegation of the top-level targets, and in
those that it delegates to, such as its bins.

Exits with 0 when python-tuf believes the site, with 1 and python-tuf's own words when it does not.
"""

import argparse
import contextlib
import functools
import http.server
import json
import pathlib
import sys
import tempfile
import threading

from tuf.api.exceptions import DownloadError, RepositoryError
from tuf.ngclient import Updater


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@contextlib.contextmanager
def serve(site):
    handler = functools.partial(Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        # It ends as soon as it is asked to, not half a second later.
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def find(updater, target, role):
    if role is None:
        return updater.get_targetinfo(target)
    # The updater's own look-up begins at the top; these are the steps that it takes for each role, and its bins.
    metadata = updater._load_targets(role, "targets")
    below = metadata.delegations.get_roles_for_target(target) if metadata.delegations else []
    for name, _ in below:
        found = updater._load_targets(name, role).targets.get(target)
        if found is not None:
            return found
    return metadata.targets.get(target)


def judge(site, root, target, out, cache, role):
    with serve(site) as url:
        updater = Updater(
            metadata_dir=str(cache),
            metadata_base_url=f"{url}/metadata/",
            target_base_url=f"{url}/targets/",
            bootstrap=root.read_bytes(),
        )
        updater.refresh()
        info = find(updater, target, role)
        if info is None:
            raise RepositoryError(f"{target} is not listed")
        updater.download_target(info, str(out))
    roles = ("root", "timestamp", "snapshot", "targets")
    versions = {
        role: json.loads((cache / f"{role}.json").read_bytes())["signed"]["version"]
        for role in roles
    }
    return {"versions": versions, "target": info.to_dict()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("target")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--role")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        cache = arguments.cache or pathlib.Path(temporary)
        try:
            verdict = judge(
                arguments.site, arguments.root, arguments.target, arguments.out, cache, arguments.role
            )
        except (RepositoryError, DownloadError) as error:
            sys.exit(f"python-tuf refuses: {type(error).__name__}: {error}")
    print(json.dumps(verdict, sort_keys=True))


if __name__ == "__main__":
    main()
