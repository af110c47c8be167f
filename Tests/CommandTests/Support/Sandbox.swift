import Foundation

/// Wrappers that run a command with its own mounts, as root or where users can create namespaces.
enum Sandbox {
    /// Runs `setup`, which may mount, before the command and `after` behind it; the mounts vanish with both.
    static func mounting(_ setup: String, after: String = ":") -> [String] {
        let namespace = geteuid() == 0 ? ["unshare", "--mount"] : ["unshare", "--map-root-user", "--mount"]
        return namespace + Command.shell("\(setup) || exit 125; \"$@\"; code=$?; \(after); exit $code")
    }

    /// A file system of `size` bytes (`k`, `m`: KiB, MiB) at `folder`, whose names, kinds and bytes go to `listing`
    /// afterwards.
    static func smallDisk(_ size: String, at folder: String, listing: String, setup: String = ":") -> [String]
    {
        mounting(
            "{ mount -t tmpfs -o size=\(size) none '\(folder)' && cd '\(folder)' && \(setup); }",
            after: "{ find '\(folder)' -mindepth 1 -printf '%y %P\\n'; } > '\(listing)'")
    }

    /// `folder` as it is, but read-only.
    static func readOnly(_ folder: String) -> [String] {
        mounting("{ mount --bind '\(folder)' '\(folder)' && mount -o remount,ro,bind '\(folder)'; }")
    }

    /// Injects a fault, such as `error=EIO` or `signal=KILL`, into the `number`th call that each thread makes of one
    /// system call. The calls go to `log`, with `(INJECTED)` at the end where it was injected.
    static func injecting(
        _ fault: String, into call: String, number: Int, log: String = "/dev/null"
    ) -> [String] {
        [
            "strace", "-f", "-qq", "-o", log, "-e", "trace=\(call)", "-e",
            "inject=\(call):\(fault):when=\(number)",
        ]
    }
}
