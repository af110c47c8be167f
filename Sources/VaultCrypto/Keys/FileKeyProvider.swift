import Glibc
public import SystemPackage
public import VaultBase
import VaultFileSystem

/// A JWK or JWK Set in a file that only its owner may read. It is read again at each lookup, so that keys can be
/// replaced while the program runs.
///
/// With mode 0600 or stricter only the owner and the administrator can read it, so the owner is not checked.
public struct FileKeyProvider: RingKeyProvider {
    private let path: FilePath
    private let passphrase: PassphraseSource?
    private let remedyWhereMissing: String

    /// - Parameters:
    ///   - passphrase: of an encrypted file.
    ///   - remedy: what to do where there is no such file.
    public init(
        path: FilePath, passphrase: PassphraseSource? = nil,
        remedyWhereMissing remedy: String = "check the path"
    ) {
        (self.path, self.passphrase, remedyWhereMissing) = (path, passphrase, remedy)
    }

    public func ring() throws(VaultError) -> KeyRing {
        let text = try SecretBytes(
            ofPrivateFile: path, "the key file", remedyWhereMissing: remedyWhereMissing)
        return try KeyRing(parsingJWK: text, place: path.string, passphrase: passphrase)
    }
}

/// A JWK or JWK Set from an inherited file descriptor, such as a pipe or standard input. It is read to its end at the
/// first lookup, and cached.
public actor FileDescriptorKeyProvider: RingKeyProvider {
    private let place: String
    private var unread: OpenFile?
    private var outcome: Result<KeyRing, VaultError>?
    private let passphrase: PassphraseSource?

    /// Reads from a duplicate; the caller closes its own descriptor.
    ///
    /// - Throws: ``VaultBase/VaultError`` of category `key` when it is not open.
    public init(descriptor: Int32, passphrase: PassphraseSource? = nil) throws(VaultError) {
        self.passphrase = passphrase
        place = "file descriptor \(descriptor)"
        unread = try OpenFile(
            duplicating: descriptor, remedy: "redirect the key, as in: command 3< key-file")
    }

    public func ring() throws(VaultError) -> KeyRing {
        if let file = unread.take() {
            outcome = Result { () throws(VaultError) in
                let text = try VaultError.aboutKeys { () throws(VaultError) in
                    try SecretBytes(readingAll: file)
                }
                return try KeyRing(parsingJWK: text, place: place, passphrase: passphrase)
            }
        }
        return try outcome?.get() ?? KeyRing()
    }
}

/// A JWK or JWK Set in an environment variable, as CI systems inject masked secrets.
///
/// It is read again at each lookup and stays set, so child processes inherit it, and on Linux the user's own processes
/// can read it in `/proc`: prefer `file:`, `dir:` or `fd:`.
public struct EnvironmentKeyProvider: RingKeyProvider {
    private let name: String
    private let passphrase: PassphraseSource?

    public init(variable name: String, passphrase: PassphraseSource? = nil) {
        (self.name, self.passphrase) = (name, passphrase)
    }

    public func ring() throws(VaultError) -> KeyRing {
        let place = "environment variable \(name)"
        let text = try SecretBytes(ofVariable: name, remedy: "set it to a JWK or JWK Set")
        guard text.count <= KeyRing.byteLimit else { throw .tooLarge(place) }
        return try KeyRing(parsingJWK: text, place: place, passphrase: passphrase)
    }
}

extension KeyProvider where Self == FileKeyProvider {
    /// A JWK or JWK Set in a file that only its owner may read.
    public static func file(_ path: FilePath, passphrase: PassphraseSource? = nil) -> Self {
        FileKeyProvider(path: path, passphrase: passphrase)
    }
}

extension KeyProvider where Self == EnvironmentKeyProvider {
    /// A JWK or JWK Set in an environment variable.
    public static func environment(_ variable: String) -> Self { EnvironmentKeyProvider(variable: variable) }
}

/// A folder of secrets: Docker's `/run/secrets`, a Kubernetes secret volume, systemd's
/// `$CREDENTIALS_DIRECTORY`. It is read again at each lookup.
///
/// A file named by a key ID, with or without `.jwk`, `.jwks`, `.jwe` or `.json`, contains a JWK or JWK Set, or a JWE of it. The `kid` of
/// the keys counts, not the name. Other secrets in the folder are skipped: files without a JSON object, or with an object
/// that is no JWK or JWE, a JWK of another type, or a JWE of another kind, unless their names end in `.jwk`, `.jwks` or `.jwe`. Modes are not checked, as such folders are protected
/// as a whole; subfolders are not entered.
public struct DirectoryKeyProvider: RingKeyProvider {
    private let folder: SecretFolder
    private let passphrase: PassphraseSource?

    public init(path: FilePath, passphrase: PassphraseSource? = nil) {
        folder = SecretFolder(path: path)
        self.passphrase = passphrase
    }

    public func ring() throws(VaultError) -> KeyRing {
        try VaultError.aboutKeys { () throws(VaultError) in
            var ring = KeyRing()
            for name in try folder.names() {
                guard let (_, isDeclared) = Self.keyFile(name), let file = try folder.open(name),
                    let found = try keys(in: file, isDeclared: isDeclared)
                else { continue }
                ring.append(found)
            }
            return ring
        }
    }

    private func keys(in file: borrowing OpenFile, isDeclared: Bool) throws(VaultError) -> KeyRing? {
        let place = file.path.string
        if isDeclared {
            return try KeyRing(
                parsingJWK: SecretBytes(readingAll: file), place: place, passphrase: passphrase)
        }
        guard try file.status().size <= UInt64(KeyRing.byteLimit) else { return nil }
        let text = try SecretBytes(readingAll: file)
        guard text.firstVisibleByte == UInt8(ascii: "{"), !isOfOtherProgram(text, place) else { return nil }
        return try KeyRing(ifJWK: text, place: place, passphrase: passphrase)
    }

    /// Whether an object is a JWK of another type, or is encrypted in another way than under a passphrase.
    private func isOfOtherProgram(_ text: borrowing SecretBytes, _ place: String) -> Bool {
        do { _ = try EncryptedKeyFile(ifIn: text, place: place) } catch { return true }
        guard let members = JWKMembers(ifIn: text, place: place) else { return false }
        return members.type != nil && !members.isSymmetric
    }

    /// The key ID of a file that may contain keys, and whether its suffix declares that it does.
    private static func keyFile(_ name: String) -> (id: KeyID, isDeclared: Bool)? {
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(
            String.init)
        guard let stem = parts.first, let id = try? KeyID(stem) else { return nil }
        switch parts.dropFirst().first {
        case nil, "json": return (id, false)
        case "jwk", "jwks", "jwe": return (id, true)
        default: return nil
        }
    }
}

/// A folder of secrets. Symbolic links are followed only inside it, as Kubernetes needs: `name -> ..data/name`,
/// `..data -> ..2026_01_31`.
struct SecretFolder {
    let path: FilePath

    /// All names that are UTF-8, sorted by bytes.
    func names() throws(VaultError) -> [String] {
        let folder = try Folder(opening: path)
        return try folder.names().compactMap { String(validating: $0, as: UTF8.self) }
    }

    /// Opens a file by name; nil for folders, pipes and other kinds.
    ///
    /// Each step is opened without following links, so concurrent changes can't lead outside.
    func open(_ name: String) throws(VaultError) -> OpenFile? {
        var pending = [name]
        var passed: [String] = []
        var links = 0
        while let next = pending.popLast() {
            if next == "." { continue }
            if next == ".." {
                guard passed.popLast() != nil else { throw leadsOutside(name) }
                continue
            }
            let folder = try folder(at: passed)
            switch try folder.status(of: next)?.kind {
            case .link:
                links += 1
                guard links <= 16, let target = try folder.readLink(next), !target.isAbsolute else {
                    throw leadsOutside(name)
                }
                pending.append(contentsOf: target.components.map(\.string).reversed())
            case .folder: passed.append(next)
            case .file where pending.isEmpty: return try folder.openFile(next)
            case nil where links == 0:
                throw VaultError(
                    .key, "does not exist", at: path.appending(name).string, remedy: "check the name")
            case nil:
                throw VaultError(
                    .key, "is a broken link", at: path.appending(name).string, remedy: "remove or repair it"
                )
            default: return nil
            }
        }
        return nil
    }

    private func folder(at names: [String]) throws(VaultError) -> Folder {
        var folder = try Folder(opening: path)
        for name in names { folder = try folder.openFolder(name) }
        return folder
    }

    private func leadsOutside(_ name: String) -> VaultError {
        VaultError(
            .key, "is a link to outside its folder, or a cycle", at: path.appending(name).string,
            remedy: "put the key itself into the folder; only links inside it are followed")
    }
}

extension SecretBytes {
    /// Reads the rest of a file or pipe into secret memory only.
    ///
    /// - Throws: `.key` beyond ``KeyRing/byteLimit``; `.io`.
    init(readingAll file: borrowing OpenFile) throws(VaultError) {
        var text = SecretBytes(copying: Span())
        while true {
            let next = try SecretBytes(capacity: max(text.count, 4_096)) { (buffer) throws(VaultError) in
                try file.readNext(into: &buffer)
            }
            if next.count == 0 { break }
            text = try text.appending(next)
            guard text.count <= KeyRing.byteLimit else { throw .tooLarge(file.path.string) }
        }
        self = text
    }

    /// A file that only its owner may read.
    ///
    /// - Parameters:
    ///   - what: the content, for errors.
    ///   - remedy: what to do where there is no such file.
    init(
        ofPrivateFile path: FilePath, _ what: String, remedyWhereMissing remedy: String = "check the path"
    ) throws(VaultError) {
        self = try VaultError.aboutKeys { () throws(VaultError) in
            let file: OpenFile
            do throws(VaultError) { file = try OpenFile(reading: path) } catch {
                throw error.category == .missing ? error.with(remedy: remedy) : error
            }
            guard try file.status().permissions & 0o077 == 0 else {
                throw VaultError(
                    .key, "\(what) can be read by others", at: path.string,
                    remedy: "run: chmod 600 \(path.string.quotedForShell)")
            }
            return try SecretBytes(readingAll: file)
        }
    }

    /// Throws `.key` for a variable that is absent or empty.
    init(ofVariable name: String, remedy: String) throws(VaultError) {
        guard let value = ProcessEnvironment.withValue(of: name, { SecretBytes(copying: $0) }),
            value.count > 0
        else { throw VaultError(.key, "is not set", at: "environment variable \(name)", remedy: remedy) }
        self = value
    }

    /// Both, one after the other.
    package func appending(_ other: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
        try withBytes { (first) throws(VaultError) in
            try other.withBytes { (second) throws(VaultError) in
                try SecretBytes(capacity: first.count + second.count) { (buffer) throws(VaultError) in
                    for index in first.indices { buffer[index] = first[index] }
                    for index in second.indices { buffer[first.count + index] = second[index] }
                    return buffer.count
                }
            }
        }
    }
}

extension OpenFile {
    /// An inherited descriptor's duplicate; the caller closes its own one. Throws `.key` when it is not open.
    init(duplicating descriptor: Int32, remedy: String) throws(VaultError) {
        let name = "file descriptor \(descriptor)"
        let duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard duplicate >= 0 else { throw VaultError(.key, "is not open", at: name, remedy: remedy) }
        self.init(takingOwnershipOf: duplicate, named: FilePath(name))
    }
}

extension VaultError {
    package static func tooLarge(_ place: String) -> VaultError {
        VaultError(
            .key, "is larger than 1 MiB, too large for a key ring", at: place,
            remedy: "check that it is the key ring")
    }

    /// Changes the category of file system errors to `key`; see ``VaultError/isUnreadKey``.
    static func aboutKeys<Value: ~Copyable>(_ body: () throws(VaultError) -> Value) throws(VaultError)
        -> Value
    {
        do throws(VaultError) {
            return try body()
        } catch {
            throw VaultError(
                .key, error.problem, at: error.place, remedy: error.remedy, hint: error.hint,
                code: error.isStorageFailure ? error.code : nil)
        }
    }
}

extension SecretBytes {
    /// The first byte that is not JSON's white space; nil when there is none.
    package var firstVisibleByte: UInt8? {
        withBytes { bytes in
            for index in bytes.indices where ![0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) {
                return bytes[index]
            }
            return nil
        }
    }
}
