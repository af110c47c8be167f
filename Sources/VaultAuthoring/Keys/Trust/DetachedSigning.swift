public import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultCrypto
import VaultFileSystem
import VaultSite

/// Adds signatures to a pending file, where the keys are kept; no vault is needed.
public struct DetachedSigning: Sendable {
    /// A summary of the file's content, for the person who signs it.
    public struct Report: Sendable {
        public let role: MetadataRole
        public let version: Int64
        public let expires: UTCTime
        /// Number of key IDs with a signature. Whether these are valid is not known here.
        public let signingKeys: Int
        /// The content to check before signing, one line each.
        public let content: [String]
    }

    private let path: FilePath

    public init(of path: FilePath) {
        self.path = path
    }

    /// - Parameters:
    ///   - keys: PEM files with keys to sign with.
    ///   - copies: copies of the file with signatures to merge.
    /// - Throws: `untrusted` for a file that is not metadata, or a copy that says something else; `key`, `io`. The file is
    ///   as it was then.
    public func run(
        keys: [FilePath], copies: [FilePath], passphrase: PassphraseSource?
    ) throws(VaultError) -> Report {
        let timestamp = path.removingLastComponent().appending(MetadataRole.timestamp.fileName)
        if path != timestamp, try FileSystem.exists(timestamp) {
            throw VaultError(
                .usage, "it is published already, and published files never change", at: path.string,
                remedy: "sign the file in pending/")
        }
        let metadata = try read(path)
        var file = SignedMetadata(metadata)
        for copy in copies { file = try file.merging(try read(copy)) }
        for path in keys {
            let key = try SigningKey(reading: path, passphrase: passphrase)
            // Under the ID that the specification defines for the key.
            file = try key.sign(file, for: [RoleTrust([MetadataKey(key.publicKey)])])
        }
        try DurableFile.write(file.bytes.span, to: path, permissions: 0o644, replacing: true)
        let pending = try file.pending
        return Report(
            role: metadata.document.role, version: metadata.document.version,
            expires: metadata.document.expires, signingKeys: pending.keyIDs.count,
            content: try Self.content(of: pending))
    }

    private static func content(of metadata: UnverifiedMetadata) throws(VaultError) -> [String] {
        guard metadata.document.role == .root else {
            let listed = try metadata.document.signed.optionalObject("targets", at: "signed")
            let delegations = try metadata.delegations?.byKeys ?? []
            return try (listed.map(targets) ?? [])
                + delegations.map { "delegates to \($0.role): \(names(of: $0.trust))" }
        }
        return try TopLevelRole.allCases.map { role throws(VaultError) in
            let trust = try metadata.rootTrust(in: role)
            let signed = role == .root ? "; signed by \(trust.signers(of: metadata).count) of these" : ""
            return "\(role.rawValue): \(trust.threshold) of \(names(of: trust))\(signed)"
        }
    }

    private static func targets(listed: JSONObject) throws(VaultError) -> [String] {
        var lines: [String] = []
        for (path, value) in listed {
            for record in try TargetRecord(path: path, json: value.asObject(at: path.excerpt)).eachVersion {
                guard lines.count < shownTargets else {
                    return lines + ["lists \(listed.count.counting("target")) in all"]
                }
                let version = record.statedVersion.map { " version \($0)," } ?? ""
                let digest = record.hashes.sha256.map { ", SHA-256 \($0)" } ?? ""
                lines.append("lists \(path.excerpt)\(version) \(record.length) bytes\(digest)")
            }
        }
        return lines
    }

    private static let shownTargets = 100

    /// By the IDs of the specification: the file may call a key anything.
    private static func names(of trust: RoleTrust) -> String {
        trust.keys.map { MetadataKey($0.key).id.description.prefix(16) }.joined(separator: ", ")
    }

    private func read(_ path: FilePath) throws(VaultError) -> UnverifiedMetadata {
        let bytes = try DurableFile.read(path, limit: TopLevelRole.targets.sizeLimit)
        return try UnverifiedMetadata(parsingAnyPending: bytes, place: path.string)
    }
}
