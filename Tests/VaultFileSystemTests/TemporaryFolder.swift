import Glibc
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

/// A folder for one test, on a real file system.
final class TemporaryFolder: Sendable {
    let path: FilePath

    /// In `/dev/shm` nothing waits for a disk.
    init(in parent: String = "/tmp") throws {
        var template = Array("\(parent)/vault-file-system-tests-XXXXXX".utf8CString)
        try unsafe #require(mkdtemp(&template) != nil)
        path = FilePath(platformString: template)
    }

    deinit {
        try? FileSystem.removeTree(path)
    }

    subscript(_ name: String) -> FilePath { path.appending(name) }

    /// All names, hidden ones included.
    func names() throws -> [String] {
        try Folder(opening: path).names().map { String(decoding: $0, as: UTF8.self) }
    }

    @discardableResult
    func file(_ name: String, _ content: String = "content") throws -> FilePath {
        let file = try FileDescriptor.open(
            self[name], .writeOnly, options: [.create, .truncate], permissions: [.ownerReadWrite])
        try file.closeAfter { _ = try file.writeAll(content.utf8) }
        return self[name]
    }

    func folder(_ name: String, _ mode: mode_t = 0o755) throws {
        try unsafe #require(mkdir(self[name].string, mode) == 0)
    }

    func link(_ name: String, to target: String) throws {
        try unsafe #require(symlink(target, self[name].string) == 0)
    }

    func pipe(_ name: String) throws {
        try unsafe #require(mkfifo(self[name].string, 0o600) == 0)
    }

    func content(_ name: String) throws -> String {
        let file = try FileDescriptor.open(self[name], .readOnly)
        return try file.closeAfter {
            try unsafe String(unsafeUninitializedCapacity: 1 << 16) {
                try unsafe file.read(into: UnsafeMutableRawBufferPointer($0))
            }
        }
    }

    func permissions(_ name: String) throws -> mode_t {
        var status = stat()
        try unsafe #require(lstat(self[name].string, &status) == 0)
        return status.st_mode & 0o7777
    }
}

/// The category of the error that `body` throws; its description must name `place`.
func failure(
    naming place: FilePath, _ body: () throws -> Void, at location: SourceLocation = #_sourceLocation
) -> VaultError.Category? {
    let error = #expect(throws: VaultError.self, sourceLocation: location) { try body() }
    #expect(error?.description.contains(place.string) == true, "\(error as Any)", sourceLocation: location)
    return error?.category
}

/// For a child process: becomes an unprivileged user, so that permissions apply.
func becomeOrdinaryUser(owning path: String) {
    guard geteuid() == 0 else { return }
    guard unsafe chown(path, 65534, 65534) == 0, setgid(65534) == 0, setuid(65534) == 0 else {
        fatalError("setuid")
    }
}

enum Mounts {
    /// Whether this process may mount; skipped tests print the reason.
    static let reason: Comment = "needs root with CAP_SYS_ADMIN, to mount a small tmpfs"

    static let areAllowed: Bool = {
        var status: Int32 = 0
        return unsafe waitpid(spawn("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"), &status, 0)
            > 0 && status == 0
    }()

    /// For a child process: a tmpfs that is unmounted when the calling thread ends.
    static func tmpfs(at path: String, _ options: String) {
        leaveTheSharedView()
        guard unsafe mount("tmpfs", path, "tmpfs", 0, options) == 0 else { fatalError("mount") }
    }

    /// For a child process: a bind mount of `folder` at `path`.
    static func bind(_ folder: String, at path: String) {
        leaveTheSharedView()
        guard unsafe mount(folder, path, nil, UInt(MS_BIND), nil) == 0 else { fatalError("mount") }
    }

    private static func leaveTheSharedView() {
        // `unshare` is not in Swift's Glibc.
        guard let unshare = unsafe dlsym(nil, "unshare"),
            unsafe unsafeBitCast(unshare, to: (@convention(c) (Int32) -> Int32).self)(0x2_0000) == 0,
            unsafe mount(nil, "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0
        else { fatalError("unshare") }
    }
}

/// Starts a program from the PATH.
func spawn(_ command: String...) -> pid_t {
    var process: pid_t = -1
    var arguments: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) } + [nil]
    defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
    guard unsafe posix_spawnp(&process, command[0], nil, nil, &arguments, environ) == 0 else { return -1 }
    return process
}

extension OpenHandle where Self: ~Copyable {
    /// Sets the twelve permission bits, whatever the umask.
    func setPermissions(_ permissions: UInt16) throws {
        guard fchmod(descriptor, mode_t(permissions)) == 0 else { throw Errno(rawValue: errno) }
    }
}
