import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

struct FileLockTests {
    let testFolder: TemporaryFolder
    let path: FilePath
    init() throws {
        testFolder = try TemporaryFolder()
        path = testFolder["lock"]
    }

    @Test func modesExcludeEachOther() throws {
        do {
            let shared = try hold(path, .shared)
            let other = try hold(path, .shared)
            #expect(try !isFree(path, .exclusive))
            #expect(shared.mode == .shared && other.mode == .shared)
        }
        do {
            let exclusive = try hold(path, .exclusive)
            #expect(try !isFree(path, .exclusive))
            #expect(try !isFree(path, .shared))
            #expect(exclusive.mode == .exclusive)
        }
        #expect(try isFree(path, .exclusive))
        #expect(try testFolder.names() == ["lock"], "the lock file stays")
    }

    @Test func waitsForTheLock() async throws {
        let first = try await FileLock.acquire(path, .exclusive, patience: .zero)
        let error = await #expect(throws: VaultError.self) {
            _ = try await FileLock.acquire(path, .shared, patience: .milliseconds(30))
        }
        #expect(error?.category == .busy)
        #expect(error?.place == path.string)
        async let second = acquire()
        try await Task.sleep(for: .milliseconds(20))
        _ = consume first
        #expect(try await second)
    }

    private func acquire() async throws -> Bool {
        let lock = try await FileLock.acquire(path, .exclusive, patience: .seconds(600))
        return lock.mode == .exclusive
    }

    @Test func stopsWaitingWhenCancelled() async throws {
        let first = try await FileLock.acquire(path, .exclusive, patience: .zero)
        let waiting = Task { try await acquire() }
        waiting.cancel()
        let error = await #expect(throws: VaultError.self) { _ = try await waiting.value }
        #expect(error?.category == .busy)
        #expect(first.mode == .exclusive)
    }

    @Test func excludesOtherProcessesUntilTheyDie() async throws {
        let first = try hold(path, .exclusive)
        await #expect(processExitsWith: .success) { [place = path.string as String] in
            let isFree = try isFree(FilePath(place), .shared)
            #expect(!isFree)
        }
        _ = consume first
        await #expect(processExitsWith: .signal(SIGKILL)) { [place = path.string as String] in
            let lock = try await FileLock.acquire(FilePath(place), .exclusive, patience: .zero)
            raise(SIGKILL)
            #expect(lock.mode == .exclusive)
        }
        #expect(try isFree(path, .exclusive))
    }

    /// A program started while the lock is held does not keep it.
    @Test func childProcessDoesNotKeepTheLock() throws {
        let lock = try hold(path, .exclusive)
        let child = spawn("sleep", "600")
        try #require(child > 0)
        _ = consume lock
        #expect(try isFree(path, .exclusive))
        kill(child, SIGKILL)
        waitpid(child, nil, 0)
    }

    @Test func needsNoWritePermission() async throws {
        try testFolder.file("lock")
        await #expect(processExitsWith: .success) { [place = testFolder.path.string as String] in
            let path = FilePath(place).appending("lock")
            _ = unsafe chmod(path.string, 0o444)
            _ = unsafe chmod(place, 0o555)
            becomeOrdinaryUser(owning: place)
            let isFree = try isFree(path, .exclusive)
            #expect(isFree)
        }
    }

    @Test func refusesOtherKindsOfFiles() throws {
        try testFolder.folder("folder")
        try testFolder.link("link", to: "elsewhere")
        try testFolder.pipe("pipe")
        for name in ["folder", "link", "pipe"] {
            #expect(
                failure(naming: testFolder[name]) { _ = try FileLock.tryAcquire(testFolder[name], .shared) }
                    == .corrupt)
        }
        #expect(
            failure(naming: testFolder["absent/lock"]) {
                _ = try FileLock.tryAcquire(testFolder["absent/lock"], .shared)
            } == .unwritable)
    }

    /// Many tasks and processes update one sum under the lock.
    @Test func protectsASharedSum() async throws {
        let sum = try testFolder.file("sum", "0")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { [path] in
                    for _ in 0..<25 {
                        let lock = try await FileLock.acquire(path, .exclusive, patience: .seconds(600))
                        let text = String(decoding: try DurableFile.read(sum, limit: 9), as: UTF8.self)
                        await Task.yield()
                        let next = Array(String(try #require(Int(text)) + 1).utf8)
                        try OpenFile(updating: sum).write(next.span, at: 0)
                        #expect(lock.mode == .exclusive)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try testFolder.content("sum") == "100")
    }
}

private func hold(_ path: FilePath, _ mode: FileLock.Mode) throws -> FileLock {
    guard let lock = try FileLock.tryAcquire(path, mode) else { throw Errno.wouldBlock }
    return lock
}

private func isFree(_ path: FilePath, _ mode: FileLock.Mode) throws -> Bool {
    guard let lock = try FileLock.tryAcquire(path, mode) else { return false }
    return lock.mode == mode
}
