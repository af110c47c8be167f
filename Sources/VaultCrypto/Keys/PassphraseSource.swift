import Synchronization
import SystemPackage
public import VaultBase
import VaultFileSystem

/// The source of the passphrase of encrypted key files, vault keys and signing keys, or of a token: `env:NAME`, `file:PATH` or `fd:N`,
/// never the passphrase itself. Or somebody is asked for it.
///
/// A line feed at its end is removed. A source is read once for all keys, as a pipe can be read only once; somebody is asked once for each
/// file.
public struct PassphraseSource: Sendable {
    /// Whom a program asks.
    public typealias Prompt = @Sendable (Question) throws(VaultError) -> SecretBytes

    public enum Question: Sendable {
        /// The passphrase of an encrypted file.
        case existing(String)
        /// One for a file that is made.
        case new(String)
    }

    private enum Source: Sendable {
        case environment(String)
        case file(FilePath)
        case descriptor(Int32)
        case prompt(Prompt)
    }

    private let source: Source
    private let name: String
    private let cache = PassphraseCache()
    /// Whether files that are made are encrypted, too.
    public let encryptsNewFiles: Bool

    /// A variable or descriptor that it names is withheld from all programs that this one starts.
    ///
    /// - Parameter name: what it is, for errors.
    /// - Throws: `usage`, which never repeats the text: it might be the passphrase.
    public init(parsing text: String, of name: String = "passphrase") throws(VaultError) {
        self.name = name
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count == 2 ? parts[1] : "") {
        case ("env", let name) where !name.isEmpty:
            InheritedSecrets.note(variable: name)
            source = .environment(name)
        case ("file", let path) where !path.isEmpty: source = .file(FilePath(path))
        case ("fd", let text):
            guard let number = Int32(text), number >= 0, number != 1, number != 2 else {
                throw .noSource(of: name)
            }
            InheritedSecrets.note(descriptor: number)
            source = .descriptor(number)
        default: throw .noSource(of: name)
        }
        encryptsNewFiles = true
    }

    /// Asks for the passphrase of each file that is encrypted.
    ///
    /// - Parameter encryptingNewFiles: whether to ask for files that are made, too.
    public init(encryptingNewFiles: Bool, asking prompt: @escaping Prompt) {
        name = "passphrase"
        source = .prompt(prompt)
        encryptsNewFiles = encryptingNewFiles
    }

    /// The passphrase for one or all files. Throws `key` when it can't be read, is empty or may be read by others.
    public func passphrase(for question: Question) throws(VaultError) -> SecretBytes {
        let file =
            switch (source, question) {
            case (.prompt, .existing(let file)), (.prompt, .new(let file)): file
            default: ""
            }
        return try cache.passphrase(of: file) { () throws(VaultError) in try read(question) }
    }

    /// A secret that belongs to no file, such as a token. Throws as ``passphrase(for:)`` does.
    public func secret() throws(VaultError) -> SecretBytes { try passphrase(for: .existing(name)) }

    /// The keys of an encrypted file. As the derivation takes long by design, a file is decrypted again only when it has changed.
    func open(_ file: EncryptedKeyFile, place: String) throws(VaultError) -> KeyRing {
        if let known = cache.ring(of: file) { return known }
        let text = try file.open(with: passphrase(for: .existing(place)), place: place)
        guard let ring = try KeyRing(unencrypted: text, place: place) else {
            throw VaultError(
                .key, "encrypts neither a JWK (\"kty\") nor a JWK Set (\"keys\")", at: place,
                remedy: "encrypt the key as JWK (RFC 7517)")
        }
        cache.keep(ring, of: file, at: place)
        return ring
    }

    private func read(_ question: Question) throws(VaultError) -> SecretBytes {
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
        case .prompt(let prompt): return try checked(prompt(question), "passphrase")
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

/// The passphrases and opened files, shared by the copies of a source.
private final class PassphraseCache: Sendable {
    private final class Secret: Sendable {
        let bytes: SecretBytes
        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    /// By file; that of all files has no name. Also failures: nobody is asked again.
    private let secrets = Mutex<[String: Result<Secret, VaultError>]>([:])
    /// By place, so that a file that changes is kept once.
    private let rings = Mutex<[String: (file: EncryptedKeyFile, ring: KeyRing)]>([:])

    func passphrase(of file: String, _ read: () throws(VaultError) -> SecretBytes) throws(VaultError)
        -> SecretBytes
    {
        try secrets.withLock { secrets throws(VaultError) in
            if let cached = secrets[file] { return try cached.get().bytes.copy() }
            let fresh = Result { () throws(VaultError) in Secret(try read()) }
            secrets[file] = fresh
            return try fresh.get().bytes.copy()
        }
    }

    func ring(of file: EncryptedKeyFile) -> KeyRing? {
        rings.withLock { rings in rings.values.first { $0.file == file }?.ring }
    }

    func keep(_ ring: KeyRing, of file: EncryptedKeyFile, at place: String) {
        rings.withLock { $0[place] = (file, ring) }
    }
}

extension VaultError {
    fileprivate static func noSource(of name: String) -> VaultError {
        VaultError(
            .usage, "unknown \(name) source", at: "\(name) source",
            remedy: "use env:NAME, file:PATH or fd:N; never the \(name) itself")
    }
}
