import SealedPack
import SystemPackage
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite
import VaultTransport

/// A vault with a published site of two packs, `levels/one` and `two`, in a folder that is removed at the end.
final class TestVault {
    static let now = UTCTime("2031-05-01T12:00:00Z") ?? .latest

    let place: ScratchFolder
    let vault: VaultFolder
    var now = TestVault.now

    private init() throws {
        // Nothing waits for a disk here.
        place = try ScratchFolder(in: "/dev/shm")
        vault = VaultFolder(place.path.appending("vault"))
    }

    static func published() async throws -> TestVault {
        let vault = try TestVault()
        try await vault.vault.create(now: now)
        try vault.write(noise(66_000, seed: 1), to: "one/a.bin")
        try vault.write(noise(2_000, seed: 2), to: "one/b.bin")
        try vault.write(noise(1_000, seed: 3), to: "one/c/d.bin")
        try vault.write(noise(5_000, seed: 4), to: "two/small.bin")
        try await vault.publish(["levels/one": "one", "two": "two"])
        return vault
    }

    var site: FilePath { vault.site }
    var metadata: FilePath { vault.metadata }
    var targets: FilePath { vault.targets }
    var rootFile: FilePath { vault.trustedRoot }
    /// Where a test may put keys of its own.
    var otherKeys: FilePath { place.path.appending("other.jwks") }
    var vaultKeys: FilePath { vault.vaultKeys }
    var rootKey: FilePath { vault.signingKey(of: .root) }
    var keys: FileKeyProvider { FileKeyProvider(path: vault.vaultKeys) }
    var trustedRoot: VerifiedRoot {
        get throws { try VerifiedRoot(trustedRootFile: read(vault.trustedRoot)) }
    }

    func publish(_ sources: [String: String] = [:]) async throws {
        var settings = try VaultSettings(reading: vault.settings)
        for (id, source) in sources {
            try settings.declare(try PackID(id), source: place.path.appending(source))
        }
        try settings.write(to: vault.settings)
        _ = try await Publication.run(of: vault, AuthorRequest(keys: keys, now: now))
    }

    func tree() async throws -> TargetTree {
        try await TargetTree.verifying(MetadataFolder(vault.metadata), pinnedRoot: trustedRoot, now: now)
    }

    /// What the metadata lists, in the order of the IDs: `levels/one`, `two`.
    func packs() async throws -> [PackManifest] {
        PublishedPacks(seenIn: try await tree()).packs.map(\.pack)
    }

    /// The hosted file of `pack`.
    func file(of pack: PackManifest) throws -> FilePath {
        vault.targets.appending(try TargetRecord(path: pack.id.targetPath, json: pack.json).hostedPath)
    }

    /// Signs one more target with the vault's own keys.
    func list(_ target: TargetRecord) async throws {
        let chain = try await tree().chain
        let lifetime = MetadataLifetime()
        let targets = try sign(
            .targets(
                version: chain.targets.version + 1, expires: lifetime.expiry(of: .targets, signedAt: now),
                records: chain.targets.records + [target]))
        let snapshot = try sign(
            .snapshot(
                version: chain.snapshot.version + 1, expires: lifetime.expiry(of: .snapshot, signedAt: now),
                listing: [.targets: targets.reference]))
        let timestamp = try sign(
            .timestamp(
                version: chain.timestamp.version + 1, expires: lifetime.expiry(of: .timestamp, signedAt: now),
                snapshot: snapshot.reference))
        try await MetadataFolder(vault.metadata).publish([targets, snapshot, timestamp], now: now)
    }

    private func sign(_ draft: MetadataDraft) throws -> SignedMetadata {
        let pem = try read(vault.signingKey(of: draft.role))
        return try draft.signed(with: try Ed25519PrivateKey(pem: SecretBytes(copying: pem.span)))
    }

    func audit(
        pinned: Bool = true, keyed: Bool = false, by others: FileKeyProvider? = nil,
        remembering ledger: AuditLedger? = nil
    ) async throws -> AuditReport {
        let root: VerifiedRoot? = pinned ? try trustedRoot : nil
        let site = Site(SiteLocation(path: site), transport: FileTransport())
        return await SiteAudit(
            of: site, pinnedRoot: root, keys: others ?? (keyed ? keys : nil), scratch: place.path, now: now,
            ledger: ledger
        ).run()
    }

    /// The memory of the site's audits.
    func ledger(_ budget: AuditBudget = AuditBudget()) throws -> AuditLedger {
        try AuditLedger(at: place.path.appending("audit.json"), budget: budget, overdueDays: 14, now: now)
    }

    /// What an audit of the site at a host finds; it leaves nothing behind.
    func audit(at host: MappedHost, keyed: Bool = false) async throws -> AuditReport {
        let scratch = try ScratchFolder(in: place.path)
        let path = scratch.path
        let report = await SiteAudit(
            of: Site(try SiteLocation(MappedHost.url), transport: host), pinnedRoot: try trustedRoot,
            keys: keyed ? keys : nil, scratch: path, now: now
        ).run()
        #expect(try scratch.folder.names().isEmpty)
        return report
    }

    func audit(
        _ pack: FilePath, by evidence: PackAudit.Evidence = .nothing, keyed: Bool = false
    ) async throws -> AuditReport {
        try await PackAudit(of: pack, by: evidence, keys: keyed ? keys : nil, now: now).run()
    }

    // MARK: - Files

    func read(_ path: FilePath) throws -> [UInt8] { try DurableFile.read(path, limit: 1 << 24) }

    /// Writes below the vault's place, or to an absolute path; a file that is there is replaced.
    @discardableResult
    func write(_ bytes: [UInt8], to path: FilePath) throws -> FilePath {
        let path = place.path.pushing(path)
        try FileSystem.createFolders(path.removingLastComponent(), permissions: 0o755)
        try DurableFile.write(bytes.span, to: path, permissions: 0o644, replacing: true)
        return path
    }

    func flipByte(of path: FilePath, at offset: UInt64) throws {
        let file = try OpenFile(updating: path)
        let flipped = try file.readExactly(1, at: offset).map { $0 ^ 1 }
        try file.write(flipped.span, at: offset)
    }

    /// Up to 66,000 incompressible bytes, the same for the same seed below 100.
    static func noise(_ count: Int, seed: Int) -> [UInt8] { Array(pool[seed * 100..<(seed * 100 + count)]) }

    private static let pool: [UInt8] = {
        var state: UInt64 = 1
        return (0..<76_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }()
}

extension AuditReport {
    /// The problems of all errors.
    var problems: [String] {
        allFindings.filter { $0.severity.name == "error" }.map(\.problem)
    }

    func findings(_ severity: Finding.Severity) -> [Finding] {
        allFindings.filter { $0.severity == severity }
    }
}
