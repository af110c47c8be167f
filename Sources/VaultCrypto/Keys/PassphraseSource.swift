import Synchronization
import SystemPackage
public import VaultBase
import VaultFileSystem

/// The source of an encrypted signing key's passphrase: `env:NAME`, `file:PATH` or `fd:N`, never the passphrase itself.
/// A line feed at its end is removed. It is read once for all keys, as a pipe can be read only once.
public struct PassphraseSource: Sendable {
    private enum Source: Sendable {
        case environment(String)
        case file(FilePath)
        case descriptor(Int32)
    }

    private let source: Source
    private let cache = PassphraseCache()

    /// - Throws: `usage`, which never repeats the text: it might be the passphrase.
    public init(parsing text: String) throws(VaultError) {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count == 2 ? parts[1] : "") {
        case ("env", let name) where !name.isEmpty: source = .environment(name)
        case ("file", let path) where !path.isEmpty: source = .file(FilePath(path))
        case ("fd", let text):
            guard let number = Int32(text), number >= 0, number != 1, number != 2 else {
                throw .noPassphraseSource
            }
            source = .descriptor(number)
        default: throw .noPassphraseSource
        }
    }

    /// - Throws: `key` when it can't be read, is empty or may be read by others.
    public func passphrase() throws(VaultError) -> SecretBytes {
        try cache.get { () throws(VaultError) in try read() }
    }

    private func read() throws(VaultError) -> SecretBytes {
        switch source {
        case .environment(let name):
            let text = try SecretBytes(ofVariable: name, remedy: "set it to the passphrase")
            return try Self.checked(text, "environment variable \(name)")
        case .file(let path):
            return try Self.checked(SecretBytes(ofPrivateFile: path, "the passphrase"), path.string)
        case .descriptor(let number):
            let file = try OpenFile(
                duplicating: number, remedy: "redirect the passphrase, as in: command 3< file")
            let text = try VaultError.aboutKeys { () throws(VaultError) in try SecretBytes(readingAll: file) }
            return try Self.checked(text, file.path.string)
        }
    }

    private static func checked(_ text: consuming SecretBytes, _ place: String) throws(VaultError)
        -> SecretBytes
    {
        let count = text.withBytes { bytes in
            bytes.count > 0 && bytes[bytes.count - 1] == UInt8(ascii: "\n") ? bytes.count - 1 : bytes.count
        }
        guard count > 0 else {
            throw VaultError(
                .key, "the passphrase is empty", at: place, remedy: "give the passphrase of the key")
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
    fileprivate static let noPassphraseSource = VaultError(
        .usage, "unknown passphrase source", at: "passphrase source",
        remedy: "use env:NAME, file:PATH or fd:N; never the passphrase itself")
}
