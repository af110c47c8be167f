public import SealedPack
import SystemPackage
import UpdateFramework
public import VaultBase
public import VaultCrypto
public import VaultSite
import VaultTransport

/// What an audit looked at, and what it found.
public struct AuditReport: Sendable {
    /// How far the metadata could be verified.
    public enum Trust: String, Sendable {
        /// Signed metadata, verified from a root that the reader gave.
        case pinned
        /// Signed metadata, verified from the site's own first root: consistent, but nothing shows whose it is.
        case unpinned
        /// The metadata could not be verified, so its content was ignored.
        case failed
        /// The host could not be reached, or failed: there was nothing to verify.
        case unread
        /// No signed metadata was there to look at: a pack by itself.
        case unsigned
    }

    /// The site or pack, as it was named.
    public let subject: String
    public internal(set) var trust = Trust.unsigned
    public internal(set) var roles: [TrustSummary.Role] = []
    public internal(set) var packs: [AuditedPack] = []
    /// Of a site at an http or https URL, if its host answers.
    public internal(set) var host: HostReport?
    /// What was found about the subject as a whole; findings about its host or one pack stand with these.
    public internal(set) var findings: [Finding] = []
    /// What was verified over several runs; nil without an audit ledger.
    public internal(set) var coverage: AuditCoverage?
    /// How the site grew, and what each of those runs verified; nil without an audit ledger.
    public internal(set) var history: AuditHistory?
    /// Bytes of all files that match their description.
    public internal(set) var verifiedBytes: UInt64 = 0

    init(subject: String) { self.subject = subject }

    /// Of an audit that could not begin.
    public init(of subject: String, failing failure: VaultError) {
        self.init(subject: subject)
        trust = .unread
        findings = [Finding(failure)]
    }

    public var isPinned: Bool { trust == .pinned }

    public var allFindings: [Finding] { findings + (host?.findings ?? []) + packs.flatMap(\.findings) }

    /// How many findings are errors.
    public var problemCount: Int { errors.count }

    /// The findings that are errors, as they would be thrown.
    public var errors: [VaultError] { allFindings.compactMap(\.error) }

    /// The error that decides; nil when there is none.
    public var gravestError: VaultError? { worstFirst.first?.error }

    public var worstFirst: [Finding] { allFindings.worstFirst }

    /// Verifies a site's metadata, and notes its roles. Nil if it can't be verified: then the report says so, and nothing that the
    /// metadata lists is examined.
    mutating func establishTrust(
        in site: Site, from pinnedRoot: VerifiedRoot?, now: UTCTime, expiryNotice: Int? = nil
    ) async -> TargetTree? {
        let tree: TargetTree
        do throws(VaultError) {
            // Digests are known, and comparable, whether or not the metadata have expired.
            tree = try await TargetTree.verifying(site, pinnedRoot: pinnedRoot, now: .earliest)
        } catch {
            refuse(await error.asOtherRoot(than: pinnedRoot, at: site).asDamage(in: site))
            return nil
        }
        trust = pinnedRoot == nil ? .unpinned : .pinned
        roles = TrustSummary(of: tree, expiryNotice: expiryNotice, now: now).roles
        findings += roles.compactMap { role in
            role.warning.map { role.hasExpired ? Finding($0.refusal(as: .untrusted)) : $0 }
        }
        findings += tree.refusals.map { Finding($0.error.asDamage(in: site)) }
        return tree
    }

    /// The site's metadata can't be used.
    mutating func refuse(_ failure: VaultError) {
        trust = failure.isHostFailure ? .unread : .failed
        findings.append(Finding(failure))
        let reason = failure.isHostFailure ? "read" : "verified"
        findings.append(
            Finding(
                .note, "not-looked-at",
                "its metadata could not be \(reason), so nothing that it lists was looked at",
                at: subject, remedy: "audit again once the metadata can be \(reason)"))
    }

    /// Adds what was found about a file that is not one of ``packs``.
    mutating func append(_ findings: [Finding], of target: TargetRecord) {
        self.findings += findings
        if findings.allSatisfy({ $0.error == nil }) { verifiedBytes += target.length }
    }

    mutating func append(_ pack: AuditedPack) {
        packs.append(pack)
        if pack.isSound { verifiedBytes += pack.length }
    }
}

/// One pack, and what was found about it.
public struct AuditedPack: Sendable {
    /// The pack's file or URL.
    public let place: String
    /// By its manifest or its catalog; nil when neither could be read.
    public internal(set) var id: PackID?
    /// Its name, if its site has opaque names and a key opens their table.
    public internal(set) var name: PackID?
    public internal(set) var version: UInt64?
    /// Bytes, as its manifest states them, else those of the file.
    public internal(set) var length: UInt64
    public internal(set) var pieceCount: UInt32?
    /// The vault keys that it is sealed for, by its manifest.
    public internal(set) var keyIDs: [KeyID]
    /// The numbers of the pieces whose digest is wrong.
    public internal(set) var damagedPieces: [Int] = []
    /// How many files and empty folders were verified; nil without a key.
    public internal(set) var verifiedEntries: Int?
    public internal(set) var findings: [Finding] = []

    /// - Parameter manifest: nil for a pack that nothing describes.
    init(place: String, of manifest: PackManifest?) {
        self.place = place
        (id, version) = (manifest?.id, manifest?.version)
        length = manifest?.length ?? 0
        keyIDs = manifest?.slots.map(\.keyID) ?? []
    }

    /// Whether no finding is an error.
    public var isSound: Bool { findings.allSatisfy { $0.error == nil } }
}

extension VaultError {
    /// A folder can't fail to answer as a host can: what is missing or unreadable there is damaged. Of a host, metadata that are not
    /// there are not hosted. For clients they are `unavailable`, since these come again while a site is uploaded; who audits wants to know
    /// that the host, which answers, does not have them.
    func asDamage(in site: Site) -> VaultError {
        guard site.location.path != nil else {
            switch code {
            case "missing-metadata", "missing-root":
                return VaultError(.notHosted, problem, at: place, remedy: remedy, code: code)
            case "mixed-metadata":
                let remedy =
                    "an upload may be under way: audit again later; if it stays so, remove it there and upload again"
                return with(remedy: remedy)
            default: return self
            }
        }
        let remedy = "repair it from a host of the site"
        let hint = Hint.repairingSite(folder: site.location.description)
        switch code {
        case "missing-metadata":
            return VaultError(.corrupt, "it is missing", at: place, remedy: remedy, hint: hint, code: code)
        case "not-metadata":
            return with(problem: "it is not metadata: \(problem)", remedy: remedy, hint: hint)
        case "oversized-metadata", "mixed-metadata": return with(remedy: remedy, hint: hint)
        case "missing-file", "wrong-file": return with(hint: hint)
        default:
            guard isHostFailure else { return self }
            return VaultError(
                .corrupt, problem, at: place, remedy: self.remedy, hint: code == "missing-root" ? hint : nil,
                code: code == Finding.Code(category) ? nil : code)
        }
    }

    /// A site that does not follow from the given root may be one whose root is another: then the wrong file was given, or the host has
    /// another site.
    fileprivate func asOtherRoot(than pinnedRoot: VerifiedRoot?, at site: Site) async -> VaultError {
        guard code == "not-signed", let pinnedRoot, let kept = KeptRoots(of: site, pinnedRoot: pinnedRoot),
            let other = await kept.refusalOfPinned(), other.code == "other-root"
        else { return self }
        return VaultError(
            .untrusted, other.problem, at: other.place,
            remedy: "give the root of this site; if that was given, don't use this host", hint: .trustedRoot,
            code: other.code)
    }
}
