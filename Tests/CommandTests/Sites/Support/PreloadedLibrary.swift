import Testing

/// Replaced functions of the C library.
enum PreloadedLibrary {
    /// A wrapper.
    static func through(_ source: String, in folder: TemporaryFolder) async throws -> [String] {
        let library = folder["preloaded.so"]
        let file = try folder.write("preloaded.c", "#define _GNU_SOURCE\n" + source)
        try await Tool.run("clang", "-shared", "-fPIC", "-O1", "-Werror", "-o", library, file)
        return ["env", "LD_PRELOAD=\(library)"]
    }

    /// Every write of several bytes ends early, as the system is free to let it.
    static let shortWrites = """
        #include <unistd.h>
        #include <sys/syscall.h>
        static size_t part(size_t n) { return n > 1 ? n - n / 3 - 1 : n; }
        ssize_t write(int f, const void *b, size_t n) { return syscall(SYS_write, f, b, part(n)); }
        ssize_t pwrite64(int f, const void *b, size_t n, off_t o) {
            return syscall(SYS_pwrite64, f, b, part(n), o);
        }
        ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return pwrite64(f, b, n, o); }
        """
}
