public import SystemPackage
public import UpdateFramework
import VaultBase
public import VaultCrypto
import VaultFileSystem

/// An author's folder:
///
///     vault.json          what is published, and how
///     keys/               vault.jwks, replaced vault keys, and signing keys as PEM files; secret, ignored by git
///     pending/            metadata that waits for signatures of keys that are kept elsewhere
///     trusted-root.json   what clients pin
///     .pending            digests of what was written to pending/
///     .published          what was published from here last: versions, the timestamp's digest
///     site/               the signed static site, to be uploaded
public struct VaultFolder: Sendable {
    public let path: FilePath
    /// Published metadata: the site's own, or a copy of the host's.
    public let metadata: FilePath
    /// Of its encrypted key files.
    let passphrase: PassphraseSource?

    public init(_ path: FilePath, passphrase: PassphraseSource? = nil) {
        self.init(path, metadata: Self.siteMetadata(in: path), passphrase: passphrase)
    }

    private init(_ path: FilePath, metadata: FilePath, passphrase: PassphraseSource?) {
        (self.path, self.metadata, self.passphrase) = (path, metadata, passphrase)
    }

    /// The same vault with a copy of a host's metadata.
    func following(_ copy: FilePath) -> VaultFolder {
        VaultFolder(path, metadata: copy, passphrase: passphrase)
    }

    /// Whether the published state is the host's, so that the site's folder gets only new files.
    var followsHost: Bool { metadata != siteMetadata }

    public var settings: FilePath { path.appending("vault.json") }
    public var keys: FilePath { path.appending("keys") }
    public var vaultKeys: FilePath { keys.appending("vault.jwks") }
    /// A vault key by itself: one that is being replaced, or that is retired and may open what was sealed for it.
    func key(_ id: KeyID) -> FilePath { replacedKeys.appending("\(id).jwks") }
    /// Apart from the files of audiences, whose names a key's ID may have.
    var replacedKeys: FilePath { keys.appending("replaced") }
    /// The vault keys in a file.
    func keys(in file: FilePath) -> FileKeyProvider { FileKeyProvider(path: file, passphrase: passphrase) }
    /// The vault's own keys.
    public var ownKeys: FileKeyProvider {
        FileKeyProvider(path: vaultKeys, passphrase: passphrase, remedyWhereMissing: Self.lostKeyRemedy)
    }
    /// What to do where no key here opens the vault's packs.
    static let lostKeyRemedy =
        "put back the key's file, or give the key from another source; if it is lost for good, make the packs anew from their sources (Keys/WorstDay.md, \"A lost vault key\")"
    public var trustedRoot: FilePath { path.appending("trusted-root.json") }
    public var pending: FilePath { path.appending("pending") }
    /// The SHA-256 of what was written to `pending/`.
    var pendingDigests: FilePath { path.appending(".pending") }
    public var site: FilePath { path.appending("site") }
    /// The metadata to upload.
    var siteMetadata: FilePath { Self.siteMetadata(in: path) }
    public var targets: FilePath { site.appending("targets") }
    var lock: FilePath { path.appending(".lock") }

    private static func siteMetadata(in path: FilePath) -> FilePath {
        path.appending("site").appending("metadata")
    }

    /// A team's public key, for the vault that delegates to it.
    func publicKey(of team: MetadataRole) -> FilePath {
        path.appending("\(team).pub.pem")
    }

    public func signingKey(of role: MetadataRole) -> FilePath {
        keys.appending("\(role).pem")
    }

    /// The root that the vault's clients pin.
    func pinnedRoot() throws(VaultError) -> VerifiedRoot {
        let bytes = try DurableFile.read(trustedRoot, limit: MetadataRole.root.sizeLimit)
        return try VerifiedRoot(
            pinning: UnverifiedMetadata(parsing: bytes, as: .root, place: trustedRoot.string))
    }

    var nothingPublished: VaultError {
        VaultError(
            .missing, "nothing was published yet", at: site.string, remedy: "publish first",
            hint: .publishing)
    }

    /// All roots of the site, from the first one on.
    func roots() async throws(VaultError) -> [VerifiedRoot] {
        try await RootHistory(of: MetadataFolder(metadata), through: [pinnedRoot()]).roots
    }
}

extension RootHistory {
    /// All roots of a vault's site: also those before the pinned one. Verification without a pinned root begins with the first, and
    /// earlier ones name the keys of what was published then.
    ///
    /// - Parameters:
    ///   - known: roots that are among them.
    ///   - last: the version to read up to; nil reads all.
    init(
        of source: any MetadataSource, through known: [VerifiedRoot], upTo last: Int64? = nil
    ) async throws(VaultError) {
        guard let history = try await RootHistory(fromFirstRootOf: source, upTo: last) else {
            throw .missingRoot(1, in: source)
        }
        for known in known where !history.roots.contains(where: { $0.digest == known.digest }) {
            throw VaultError(
                .untrusted, "its roots do not lead to the vault's root",
                at: source.place(of: MetadataRole.root.hostedName(version: known.version)),
                remedy: "do not use this host; upload all roots of your site again")
        }
        self = history
    }
}

extension VaultFolder {
    /// Runs `body`, with the settings, as the only publisher of this vault. Throws `busy` while another process publishes.
    func withPublisherLock<Result>(
        _ body: (VaultSettings) async throws(VaultError) -> Result
    ) async throws(VaultError) -> Result {
        // Without a vault there is nothing to lock.
        _ = try VaultSettings(reading: settings)
        guard let lock = try FileLock.tryAcquire(lock, .exclusive) else {
            throw VaultError(
                .busy, "another process is publishing this vault", at: path.string,
                remedy: "wait until it is done")
        }
        defer { withExtendedLifetime(lock) {} }
        // A killed process may have left copies of keys.
        for folder in [path, keys, replacedKeys, pending, site, metadata, targets]
        where try FileSystem.exists(folder) {
            try Folder(opening: folder).removeAbandonedScratch()
        }
        // Another process may have changed them before it released the lock.
        return try await body(VaultSettings(reading: settings, passphrase: passphrase))
    }
}
