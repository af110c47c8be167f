import Foundation
import Testing

/// Disks that take a part of what is written: the rest is written after it, or the command says that it can't be.
@Suite(.timeLimit(.minutes(10))) struct ShortWriteTests {
    /// Every write of several bytes ends early, as the system is free to let it.
    @Test(arguments: [KilledWay.opened, .sealed, .downloader, .unlock, .remove])
    func everyWrite(way: KilledWay) async throws {
        let stores = try await KilledStores(way, from: .loaded)
        let folder = stores.workshop.folder
        let source = try folder.write(
            "short.c",
            """
            #define _GNU_SOURCE
            #include <unistd.h>
            #include <sys/syscall.h>
            static size_t part(size_t n) { return n > 1 ? n - n / 3 - 1 : n; }
            ssize_t write(int f, const void *b, size_t n) { return syscall(SYS_write, f, b, part(n)); }
            ssize_t pwrite64(int f, const void *b, size_t n, off_t o) {
                return syscall(SYS_pwrite64, f, b, part(n), o);
            }
            ssize_t pwrite(int f, const void *b, size_t n, off_t o) { return pwrite64(f, b, n, o); }
            """)
        let library = folder["short.so"]
        try await Tool.run("clang", "-shared", "-fPIC", "-O1", "-o", library, source)
        let store = try await stores.store("short")
        let log = folder["calls"]
        let strace = [
            "strace", "-f", "-qq", "-o", log, "-e", "trace=pwrite64", "-E", "LD_PRELOAD=\(library)",
        ]
        try await stores.runFromFolder(in: store, through: strace).succeeded()
        let calls = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        // A record of more than a hundred bytes takes several calls by now.
        #expect(calls.count >= 10, "\(calls.count)")
        try stores.expectNothingHalf(in: store, "\(way)")
        try await stores.expectEnd(in: store, "\(way)")
    }

    /// Files may only be so long: the write that reaches the end is short, the next one fails.
    @Test(arguments: [KilledWay.opened, .sealed, .downloader, .unlock])
    func theLastWrite(way: KilledWay) async throws {
        let stores = try await KilledStores(way, from: .loaded)
        // Within a record, a piece, the copied file.
        for limit in [1, 2, 3, 5, 301, 1501, 2555] {
            let hint = "\(way), files of at most \(limit) blocks of 512 bytes"
            let store = try await stores.store("store-\(limit)")
            let limiting = Command.shell("trap '' XFSZ; ulimit -f \(limit) && exec \"$@\"")
            let result = try await stores.runFromFolder(in: store, through: limiting)
            #expect(result.exitCode == 74, "\(result.exitCode) \(result.errorText) \(hint)")
            try await stores.expectOldOrNew(in: store, hint)
            try stores.expectNothingHalf(in: store, hint)
            try await stores.runFromFolder(in: store).succeeded()
            try await stores.expectEnd(in: store, hint)
        }
    }
}
