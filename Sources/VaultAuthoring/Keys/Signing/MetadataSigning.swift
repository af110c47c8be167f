import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto

/// Signs metadata with the keys at hand, or uses signatures that were made elsewhere.
struct MetadataSigning {
    var keys: SigningKeys
    let pending: PendingMetadata
    let versions: NextVersions
    let period: SigningPeriod

    /// - Parameter keys: nil reads the vault's keys.
    init(for session: AuthorSession, with keys: SigningKeys? = nil) throws(VaultError) {
        self.keys =
            if let keys { keys } else { try SigningKeys(of: session.vault) }
        pending = PendingMetadata(vault: session.vault)
        var versions = try MetadataFolder(session.vault.metadata).nextVersions()
        if let tree = session.published.site?.tree { versions.add(tree.chain.snapshot) }
        for file in session.host?.takenNames ?? [] { versions.add(file) }
        self.versions = versions
        period = session.period
    }

    /// Makes a role's metadata with a version and an expiry.
    typealias Content = (Int64, UTCTime) throws(VaultError) -> MetadataDraft

    /// Signs with the keys at hand.
    ///
    /// - Throws: `key` when the keys don't meet all of `trusts`.
    func sign(
        _ role: MetadataRole, for trusts: [RoleTrust], delegatedBy delegator: String, _ content: Content
    ) throws(VaultError) -> SignedMetadata {
        let file = try draft(role, for: trusts, content)
        guard try isMet(trusts, by: file) else {
            throw keys.failure(
                for: role, delegatedBy: delegator,
                remedy: "restore it from your backup, or publish where it is kept")
        }
        return file
    }

    /// Signs with the keys at hand, or with the signatures that the same content in `pending/` got elsewhere.
    func signOrWait(
        _ role: MetadataRole, for trusts: [RoleTrust], _ content: Content
    ) throws(VaultError) -> SigningOutcome {
        let file = try draft(role, for: trusts, content)
        if try isMet(trusts, by: file) { return .signed(file) }
        guard let pendingFile = try pending.file(of: role), try matches(pendingFile, content) else {
            return try wait(file, for: trusts)
        }
        let merged = try adding(signaturesFor: trusts, to: pendingFile)
        let isMet = try isMet(trusts, by: merged)
        guard isMet, period.isDue(role, expiring: pendingFile.document.expires) else {
            let outcome = try wait(merged, for: trusts)
            return isMet ? .signed(merged) : outcome
        }
        try pending.write(file)
        throw VaultError(
            .untrusted,
            "it was signed too long ago: it would expire at \(pendingFile.document.expires), sooner than vault.json allows",
            at: pending.path(of: merged).string, remedy: "sign it once more: it was written anew")
    }

    /// Writes a file to `pending/`.
    func wait(_ file: SignedMetadata, for trusts: [RoleTrust]) throws(VaultError) -> SigningOutcome {
        try pending.write(file)
        return .pending(try MissingSignatures(file, at: pending.path(of: file), for: trusts))
    }

    /// Signs a pending file with the keys at hand, and drops signatures that are not valid.
    func adding(
        signaturesFor trusts: [RoleTrust], to pendingFile: UnverifiedMetadata
    ) throws(VaultError) -> SignedMetadata {
        try keys.sign(SignedMetadata(pendingFile), for: trusts)
            .keeping(onlyValidSignaturesOf: trusts.flatMap(\.keys))
    }

    /// Completely signed metadata in `pending/` with the same content and a later expiry.
    func pendingFile(
        _ role: MetadataRole, for trusts: [RoleTrust], lastingBeyond expires: UTCTime, _ content: Content
    ) throws(VaultError) -> SignedMetadata? {
        guard let pendingFile = try pending.file(of: role), pendingFile.document.expires > expires,
            // A file that is due for renewal itself does not help.
            !period.isDue(role, expiring: pendingFile.document.expires), try matches(pendingFile, content)
        else { return nil }
        let file = SignedMetadata(pendingFile).keeping(onlyValidSignaturesOf: trusts.flatMap(\.keys))
        return try isMet(trusts, by: file) ? file : nil
    }

    func isMet(_ trusts: [RoleTrust], by file: SignedMetadata) throws(VaultError) -> Bool {
        let metadata = try file.unverified
        return trusts.allSatisfy { $0.isMet(by: metadata) }
    }

    private func draft(
        _ role: MetadataRole, for trusts: [RoleTrust], _ content: Content
    ) throws(VaultError) -> SignedMetadata {
        let draft = try content(versions[role], period.expiry(of: role))
        return try keys.sign(SignedMetadata(draft), for: trusts)
    }

    /// Whether pending metadata has this content and the next version.
    private func matches(_ pendingFile: UnverifiedMetadata, _ content: Content) throws(VaultError) -> Bool {
        let document = pendingFile.document
        guard document.version == versions[document.role] else { return false }
        return try content(document.version, document.expires).signed == document.signed
    }
}

/// The outcome of signing.
enum SigningOutcome {
    case signed(SignedMetadata)
    /// It needs signatures of keys that are kept elsewhere.
    case pending(MissingSignatures)
}

/// The expiry of metadata that is signed now.
struct SigningPeriod {
    let lifetime: MetadataLifetime
    let now: UTCTime
    /// The least expiry, for offline media.
    var offlineUntil: UTCTime?

    func expiry(of role: MetadataRole) -> UTCTime {
        max(lifetime.expiry(of: role, signedAt: now), offlineUntil ?? now)
    }

    /// Whether metadata must be signed again: less than a quarter of the role's period is left, or it expires too
    /// early.
    func isDue(_ role: MetadataRole, expiring expires: UTCTime) -> Bool {
        lifetime.isRenewalDue(of: role, expiring: expires, at: now) || expires < offlineUntil ?? expires
    }
}

/// A file in `pending/`, and the keys whose signatures it needs.
struct MissingSignatures {
    let path: FilePath
    /// Such as `1 of 5822582e7072996c, 9f86d081884c7d65`.
    let missing: String

    init(_ file: SignedMetadata, at path: FilePath, for trusts: [RoleTrust]) throws(VaultError) {
        let metadata = try file.unverified
        self.path = path
        missing = trusts.compactMap { trust -> String? in
            let signers = trust.signers(of: metadata)
            guard signers.count < trust.threshold else { return nil }
            let others = trust.keys.filter { !signers.contains($0.key) }
            let ids = others.map { $0.id.description.prefix(16) }.joined(separator: ", ")
            return "\(trust.threshold - signers.count) of \(ids)"
        }.joined(separator: " and ")
    }
}
