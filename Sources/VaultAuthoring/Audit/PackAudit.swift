import SealedPack
public import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultCrypto
import VaultFileSystem
public import VaultSite

/// Checks one pack on this machine, as far as its manifest and keys are known.
public struct PackAudit: Sendable {
    /// Where the pack's manifest comes from.
    public enum Evidence: Sendable {
        /// There is none: the pack's parts are compared with each other only.
        case nothing
        /// A file without a signature.
        case manifest(FilePath)
        /// A site's metadata, and the root that it is verified from, if the reader has one.
        case site(Site, pinnedRoot: VerifiedRoot?)
    }

    private let path: FilePath
    private let evidence: Evidence
    private let keys: (any KeyProvider)?
    private let now: UTCTime

    /// - Parameters:
    ///   - keys: nil for an audit without any key.
    ///   - now: the moment at which no metadata may have expired.
    public init(of path: FilePath, by evidence: Evidence, keys: (any KeyProvider)?, now: UTCTime) {
        self.path = path
        self.evidence = evidence
        self.keys = keys
        self.now = now
    }

    /// Throws only what keeps the pack from being looked at: it or its manifest is missing or can't be read.
    public func run(_ observe: (WorkProgress) -> Void = { _ in }) async throws(VaultError) -> AuditReport {
        let file = OpenFileReference(try OpenFile(reading: path))
        var report = AuditReport(subject: path.string)
        var manifest: PackManifest?
        switch evidence {
        case .nothing:
            report.findings.append(
                Finding(
                    .note, "no-evidence", "no manifest: not bound to anything signed", at: path.string,
                    remedy: "give its manifest, or its site", hint: .evidence))
        case .manifest(let file):
            manifest = try PackManifestFile.read(file)
            report.findings.append(
                Finding(
                    .note, "unsigned-manifest",
                    "the manifest is not signed: the pack matches it, but nothing shows whose it is",
                    at: file.string, remedy: "give its site for signed metadata", hint: .evidence))
        case .site(let site, let pinnedRoot):
            guard let tree = await report.establishTrust(in: site, from: pinnedRoot, now: now) else {
                return report
            }
            manifest = try listing(of: file, in: PublishedPacks(ofAllChannelsOf: tree), &report)
            guard manifest != nil else { return report }
        }
        let examination = PackExamination(
            place: path.string, manifest: manifest, siteFolder: nil, keys: keys)
        var work = WholeWork<String>([], steps: keys == nil ? [.checking] : [.checking, .opening])
        report.append(
            await examination.run(on: file) { observe(work.adding($0, of: path.string)) })
        return report
    }

    /// What the site says of this pack. It is found by its content key, which all versions of a pack share, so that
    /// damage or another version is reported as such; of a family, whose packs share one, by its header and footer. Nil when
    /// the file is not a pack, or several listings claim it: then the report says so.
    private func listing(
        of file: OpenFileReference, in packs: PublishedPacks, _ report: inout AuditReport
    ) throws(VaultError) -> PackManifest? {
        let pack: PackFile
        do throws(VaultError) { pack = try PackFile(file, as: nil) } catch {
            report.findings.append(Finding(error, at: path.string))
            return nil
        }
        let found = packs.packs.filter { $0.pack.contentKeyID == pack.contentKeyID }
        guard let first = found.first else {
            throw VaultError(
                .missing, "the site lists no pack with this file's content key", at: path.string,
                remedy: "use the site that published it, or its manifest")
        }
        if Set(found.map(\.pack.id)).count == 1 {
            if let listed = found.first(where: { pack.matches($0.pack) }) { return listed.pack }
            let listed = (found.last ?? first).pack
            try requireDamaged(file.file, insteadOf: listed)
            return listed
        }
        if let family = first.pack.offer.family, found.count > 1, packs.contested.isEmpty {
            if let listed = found.first(where: { pack.matches($0.pack) }) { return listed.pack }
            throw VaultError(
                .missing, "the site lists no pack of '\(family)' with this file's header and footer",
                at: path.string, remedy: "use the manifest of its version; or the file is damaged")
        }
        report.findings.append(.contested(found, at: path.string))
        return nil
    }

    /// Throws `missing` for a file that has its own SHA-256 in its name, as a hosted pack has: nothing signed says what it is.
    private func requireDamaged(
        _ file: borrowing OpenFile, insteadOf listed: PackManifest
    ) throws(VaultError) {
        let name = path.lastComponent?.string ?? ""
        guard let digest = SHA256Digest(hex: String(name.prefix { $0 != "." })), try file.sha256() == digest
        else { return }
        throw VaultError(
            .missing,
            "the site lists no pack with these bytes: it may be another version of '\(listed.id)', or somebody else's",
            at: path.string, remedy: "give the manifest of its version, or audit the site's folder")
    }
}
