import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

/// Effects on the process itself, tested in child processes.
struct ProcessTests {
    let testFolder: TemporaryFolder
    init() throws { testFolder = try TemporaryFolder(in: "/dev/shm") }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func cleansUpOnSignals(signal: Int32) async throws {
        let place = testFolder.path.string
        let expected = ExitStatus.exitCode(128 + signal)
        let status = await #expect(processExitsWith: .failure, observing: [\.exitStatus]) {
            [place = place as String, signal = signal as Int32] in
            Glibc.signal(signal, SIG_DFL)  // The parent process may ignore it.
            try TerminationSignals.cleanUpAndExit()
            let path = FilePath(place)
            let file = try ScratchFile(for: path.appending("file"))
            let folder = try ScratchFolder(in: path)
            for number in 0..<100 { _ = try folder.folder.createFile("\(number)", permissions: 0o600) }
            try ScratchFolder(in: path).commit(to: path.appending("final"), permissions: 0o755)
            let kept = try ScratchFolder(in: path).keep()
            try FileSystem.move(kept, to: path.appending("kept"))
            kill(getpid(), signal)
            // The work continues to write into the folder.
            var number = 100
            while true {
                _ = try? folder.folder.createFile("\(number)", permissions: 0o600)
                try? file.file.write([1].span, at: 0)
                number += 1
            }
        }
        #expect(status?.exitStatus == expected)
        #expect(try testFolder.names() == ["final", "kept"])
    }

    @Test func anIgnoredSignalStaysIgnored() async throws {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
            signal(SIGHUP, SIG_IGN)
            signal(SIGTERM, SIG_DFL)
            try TerminationSignals.cleanUpAndExit()
            kill(getpid(), SIGHUP)
            kill(getpid(), SIGTERM)
            while true { pause() }
        }
    }

    /// A signal during a commit leaves the file complete or absent.
    @Test(arguments: [1, 2, 5, 9, 30]) func signalDuringCommitLeavesWholeFilesOrNone(delay: Int) async throws
    {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
            [place = testFolder.path.string as String, delay = delay as Int] in
            signal(SIGTERM, SIG_DFL)
            try TerminationSignals.cleanUpAndExit()
            let killer = spawn("sh", "-c", "sleep 0.0\(delay); kill -TERM \(getpid())")
            #expect(killer > 0)
            var number = 0
            while true {
                let scratch = try ScratchFolder(in: FilePath(place))
                for name in ["a", "b", "c"] { _ = try scratch.folder.createFile(name, permissions: 0o600) }
                try scratch.commit(to: FilePath(place).appending("\(number)"), permissions: 0o755)
                number += 1
            }
        }
        for name in try testFolder.names() {
            #expect(!name.hasPrefix("."))
            #expect(try Folder(opening: testFolder[name]).names().count == 3)
        }
    }

    @Test func hardeningDisablesCoreDumps() async throws {
        await #expect(processExitsWith: .success) {
            try ProcessSettings.hideMemory()
            var limit = rlimit(rlim_cur: 1, rlim_max: 1)
            try unsafe #require(getrlimit(4, &limit) == 0)
            #expect(limit.rlim_cur == 0 && limit.rlim_max == 0)
            // `prctl` is not in Swift's Glibc; 3 is PR_GET_DUMPABLE.
            let prctl = try unsafe #require(dlsym(nil, "prctl"))
            #expect(unsafe unsafeBitCast(prctl, to: (@convention(c) (Int32) -> Int32).self)(3) == 0)
        }
    }
}
