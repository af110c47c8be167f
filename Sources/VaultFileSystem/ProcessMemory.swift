import CVaultSystem

/// How the process's memory is handed out.
public enum ProcessMemory {
    /// Lets all threads allocate from one arena, where glibc would give each its own: a process that mostly waits keeps
    /// less memory so.
    public static func useOneArena() { vault_use_one_arena() }
}
