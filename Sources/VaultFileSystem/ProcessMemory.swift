import CVaultSystem

/// Settings of the memory allocator.
public enum ProcessMemory {
    /// Makes all threads allocate from one arena, instead of one each (glibc): saves memory in a process that mostly
    /// waits.
    public static func useOneArena() { vault_use_one_arena() }
}
