internal import CVaultSystem
import SystemPackage
public import VaultErrors

/// Keeps secrets in memory out of core dumps and debuggers. For programs only: a library must not change its process.
public enum ProcessHardening {
    /// Makes the process undumpable (`PR_SET_DUMPABLE`) and its core files empty (`RLIMIT_CORE`). Child programs are
    /// dumpable again, but inherit the limit.
    public static func apply() throws(VaultError) {
        try check(vault_undumpable(), .changing, "forbid core dumps", "this process")
        try check(vault_no_core(), .changing, "forbid core files", "this process")
    }
}
