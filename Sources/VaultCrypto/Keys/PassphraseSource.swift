import Synchronization
import SystemPackage
public import VaultBase
import VaultFileSystem

/// The source of a passphrase, such as that of an encrypted signing key, or of a token: `env:NAME`, `file:PATH` or `fd:N`, never the
/// passphrase itself. A line feed at its end is removed. It is read once for all keys, as a pipe can be read only once.
public struct PassphraseSource: Sendable {
    private enum Source: Sendable {
        case environment(String)
        case file(FilePath)
        case descriptor(Int32)
    }

    private let source: Source
    private let name: String
    private let cache = PassphraseCache()

    /// - Parameter name: what it is, for errors.
    /// - Throws: `usage`, which never repeats the text: it might be the passphrase.
    public init(parsing text: String, of name: String = "passphrase") throws(VaultError) {
        self.name = name
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count == 2 ? parts[1] : "") {
        case ("env", let name) where !name.isEmpty: source = .environment(name)
        case ("file", let path) where !path.isEmpty: source = .file(FilePath(path))
        case ("fd", let text):
            guard let number = Int32(text), number >= 0, number != 1, number != 2 else {
                throw .noSource(of: name)
            }
            source = .descriptor(number)
        default: throw .noSource(of: name)
        }
    }

    /// The environment variable that it is in; nil for another source.
    public var variable: String? {
        if case .environment(let name) = source { name } else { nil }
    }

    /// The inherited descriptor that it comes from; nil for another source.
    public var descriptor: Int32? {
        if case .descriptor(let number) = source { number } else { nil }
    }

    /// - Throws: `key` when it can't be read, is empty or may be read by others.
    public func passphrase() throws(VaultError) -> SecretBytes {
        try cache.get { () throws(VaultError) in try read() }
    }

    private func read() throws(VaultError) -> SecretBytes {
        switch source {
        case .environment(let variable):
            let text = try SecretBytes(ofVariable: variable, remedy: "set it to the \(name)")
            return try checked(text, "environment variable \(variable)")
        case .file(let path):
            return try checked(SecretBytes(ofPrivateFile: path, "the \(name)"), path.string)
        case .descriptor(let number):
            let file = try OpenFile(
                duplicating: number, remedy: "redirect the \(name), as in: command 3< file")
            let text = try VaultError.aboutKeys { () throws(VaultError) in try SecretBytes(readingAll: file) }
            return try checked(text, file.path.string)
        }
    }

    private func checked(_ text: consuming SecretBytes, _ place: String) throws(VaultError)
        -> SecretBytes
    {
        let count = text.withBytes { bytes in
            bytes.count > 0 && bytes[bytes.count - 1] == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
        }
        guard count > 0 else {
            throw VaultError(
                .key, "the \(name) is empty", at: place, remedy: "give the \(name) itself")
        }
        return text.withBytes { SecretBytes(copying: $0.extracting(first: count)) }
    }
}

/// The passphrase, shared by the copies of a source.
private final class PassphraseCache: Sendable {
    private let secret = Mutex<SecretBytes?>(nil)

    func get(_ read: () throws(VaultError) -> SecretBytes) throws(VaultError) -> SecretBytes {
        try secret.withLock { secret throws(VaultError) in
            if let cached = secret?.copy() { return cached }
            let fresh = try read()
            secret = fresh.copy()
            return fresh
        }
    }
}

extension VaultError {
    fileprivate static func noSource(of name: String) -> VaultError {
        VaultError(
            .usage, "unknown \(name) source", at: "\(name) source",
            remedy: "use env:NAME, file:PATH or fd:N; never the \(name) itself")
    }
}
