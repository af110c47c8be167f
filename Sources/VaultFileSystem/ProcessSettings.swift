internal import CVaultSystem
import SystemPackage
public import VaultErrors

/// Settings of this process. For programs only: a library must not change its process.
public enum ProcessSettings {
    /// Keeps secrets in memory out of core dumps and debuggers: makes the process undumpable (`PR_SET_DUMPABLE`) and its core
    /// files empty (`RLIMIT_CORE`). Child programs are dumpable again, but inherit the limit.
    public static func hideMemory() throws(VaultError) {
        try check(vault_undumpable(), .changing, "forbid core dumps", "this process")
        try check(vault_no_core(), .changing, "forbid core files", "this process")
    }

    /// Makes all threads allocate from one arena, instead of one each (glibc): saves memory in a process that mostly
    /// waits.
    public static func useOneArena() { vault_use_one_arena() }
}
