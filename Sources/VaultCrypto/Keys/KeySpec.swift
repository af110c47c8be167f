import Glibc
public import SystemPackage
public import VaultBase
import VaultFileSystem

/// A key source on a command line: `env:NAME`, `file:PATH`, `fd:N`, `dir:PATH`, `exec:COMMAND` or the URL of a key service,
/// never the key itself, which other users could read there.
///
/// `exec:` is split at spaces; there is no shell and no quoting.
public struct KeySpec: Sendable {
    private enum Source: Sendable {
        case environment(String)
        case file(FilePath)
        case descriptor(Int32)
        case directory(FilePath)
        case command(executable: String, arguments: [String])
        case service(url: String)
    }

    /// Makes the provider of a key service, whose answers may be encrypted with a passphrase. Throws `usage` for a URL that is none of a
    /// service, without repeating it.
    public typealias ServiceOpener =
        @Sendable (_ url: String, _ passphrase: PassphraseSource?)
        throws(VaultError) -> any KeyProvider

    private let source: Source

    private init(source: Source) { self.source = source }

    /// The kinds of sources, for people.
    public static let kinds = "env:NAME, file:PATH, fd:N, dir:PATH, exec:COMMAND or https://HOST/PATH"

    /// A variable or descriptor that it names is withheld from all programs that this one starts.
    ///
    /// - Throws: ``VaultBase/VaultError`` of category `usage`, which never repeats the text: it might be a key.
    public init(parsing text: String) throws(VaultError) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard parts.count == 2, let source = Self.source(kind: parts[0], value: parts[1]) else {
            throw Self.isLikelyKey(text) || Self.isLikelyKey(parts.last ?? "")
                ? .literalKey : .unknownSpec(text)
        }
        self.source = source
        switch source {
        case .environment(let name): InheritedSecrets.note(variable: name)
        case .descriptor(let number): InheritedSecrets.note(descriptor: number)
        case .file, .directory, .command, .service: break
        }
    }

    /// - Parameters:
    ///   - open: opens key services; nil where there is no network, as in a program without the package's trait HTTP.
    ///   - passphrase: of encrypted keys.
    /// - Throws: ``VaultBase/VaultError`` of category `key` when a file descriptor was not inherited; `usage` for a key service that
    ///   can't be asked.
    public func provider(
        opening open: ServiceOpener? = nil, passphrase: PassphraseSource? = nil
    ) throws(VaultError) -> any KeyProvider {
        switch source {
        case .service(let url):
            guard let open else { throw .noKeyService }
            return try open(url, passphrase)
        case .environment(let name): return EnvironmentKeyProvider(variable: name, passphrase: passphrase)
        case .file(let path): return FileKeyProvider(path: path, passphrase: passphrase)
        case .directory(let path): return DirectoryKeyProvider(path: path, passphrase: passphrase)
        case .command(let executable, let arguments):
            return CommandKeyProvider(
                executable: executable, arguments: arguments, passphrase: passphrase)
        case .descriptor(let number):
            // Inherited descriptors do not close on exec; those that this program opened do.
            guard fcntl(number, F_GETFD) & FD_CLOEXEC == 0 else { throw .notInherited(number) }
            return try FileDescriptorKeyProvider(descriptor: number, passphrase: passphrase)
        }
    }

    /// The same source; relative paths begin at a folder.
    public func relative(to folder: FilePath) -> KeySpec {
        switch source {
        case .file(let path): KeySpec(source: .file(folder.pushing(path)))
        case .directory(let path): KeySpec(source: .directory(folder.pushing(path)))
        case .environment, .descriptor, .command, .service: self
        }
    }

    /// What is missing, if its file, folder or variable is; nil for a source without one. Throws `.io` where that can't be known.
    public func missing() throws(VaultError) -> String? {
        switch source {
        case .file(let path), .directory(let path):
            try FileSystem.exists(path) ? nil : "\(path) does not exist"
        case .environment(let name):
            (ProcessEnvironment.withValue(of: name) { $0.count } ?? 0) == 0
                ? "the environment variable \(name) is not set" : nil
        case .descriptor, .command, .service: nil
        }
    }

    /// The key file; nil for another source.
    public var file: FilePath? {
        if case .file(let path) = source { path } else { nil }
    }

    /// The environment variable with the key; nil for another source.
    public var variable: String? {
        if case .environment(let name) = source { name } else { nil }
    }

    private static func source(kind: String, value: String) -> Source? {
        guard !value.isEmpty, !isLikelyKey(value) else { return nil }
        switch kind {
        case "env": return isVariableName(value) ? .environment(value) : nil
        case "file": return .file(FilePath(value))
        case "dir": return .directory(FilePath(value))
        case "fd":
            guard value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int32(value),
                number != 1, number != 2
            else { return nil }
            return .descriptor(number)
        case "exec":
            let words = value.split(separator: " ").map(String.init)
            return words.first.map { .command(executable: $0, arguments: Array(words.dropFirst())) }
        case "https", "http": return value.hasPrefix("//") ? .service(url: "\(kind):\(value)") : nil
        default: return nil
        }
    }

    private static func isVariableName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    /// JSON, or 32 bytes in base64, base64url or hexadecimal digits.
    private static func isLikelyKey(_ text: String) -> Bool {
        if text.utf8.first == UInt8(ascii: "{") || text.contains("\"k\"") { return true }
        let alphabet = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "+"),
                UInt8(ascii: "="):
                true
            default: false
            }
        }
        return alphabet && [43, 44, 64].contains(text.utf8.count)
    }
}

extension VaultError {
    fileprivate static func unknownSpec(_ text: String) -> VaultError {
        let isFile = (try? FileSystem.exists(FilePath(text))) ?? false
        return VaultError(
            .usage, "unknown key source", at: "key source",
            remedy: isFile
                ? "put 'file:' before the path of a key file"
                : "use \(KeySpec.kinds); never the key itself")
    }

    fileprivate static let literalKey = VaultError(
        .usage, "this looks like a key on the command line, where other users can read it", at: "key source",
        remedy:
            "put it into a file with mode 600 and use \(KeySpec.kinds); replace the key if it was a real one")

    fileprivate static let noKeyService = VaultError(
        .usage, "keys of a service can't be fetched here", at: "key source",
        remedy: "let a command fetch them (exec:COMMAND), or write them into a file")

    fileprivate static func notInherited(_ number: Int32) -> VaultError {
        VaultError(
            .key, "was not inherited by this program", at: "file descriptor \(number)",
            remedy: "open it in the shell, as in: \(number)< key-file")
    }
}
