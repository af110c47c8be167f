internal import CVaultSystem
internal import SystemPackage
public import VaultErrors

/// Keeps secrets in memory away from core dumps and debuggers. For a program that is its own master: a
/// library never calls it.
public enum ProcessHardening {
    /// Makes the process undumpable (`PR_SET_DUMPABLE`) and its core files empty (`RLIMIT_CORE`). The
    /// programs it starts are dumpable again, but inherit the limit.
    public static func apply() throws(VaultError) {
        try check(vault_undumpable(), .changing, "forbid core dumps", "this process")
        try check(vault_no_core(), .changing, "forbid core files", "this process")
    }
}
