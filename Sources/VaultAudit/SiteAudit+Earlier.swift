import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultSite
import VaultTransport

/// Earlier versions that a site's folder keeps: what only kept metadata lists. A host's files can't be listed, so of a host
/// the newest metadata counts alone.
extension SiteAudit {
    /// So many are named, the rest is counted.
    private static var limit: Int { 100 }

    func examine(
        _ earlier: EarlierListings, in chain: TrustChain, _ report: inout AuditReport,
        _ observe: (AuditProgress) -> Void
    ) async {
        report.findings += earlier.findings
        var notes: [AuditFinding] = []
        for listing in earlier.listings {
            var place = listing.target.path
            do throws(VaultError) {
                guard let path = try site.location(of: listing.target, in: chain).path else { continue }
                place = path.string
                guard try FileSystem.exists(path) else {
                    notes.append(
                        AuditFinding(
                            .note, "it is gone, and \(listing.metadata) lists it: it can't be restored",
                            at: place, remedy: "put a backup of it there, if it may be needed"))
                    continue
                }
                let file = OpenFileReference(try OpenFile(reading: path))
                let findings = try await Self.problems(of: file, at: place, as: listing.target, observe)
                report.findings += findings
                guard findings.isEmpty else { continue }
                report.verifiedBytes += listing.target.length
                notes.append(
                    AuditFinding(
                        .note,
                        "an earlier version, which can be restored; \(listing.metadata) lists it",
                        at: place,
                        remedy: "prune the site: it goes when no client can need it any more", hint: .pruning)
                )
            } catch {
                report.findings.append(AuditFinding(error, at: place))
            }
        }
        report.findings += notes.prefix(Self.limit)
        guard notes.count > Self.limit else { return }
        report.findings.append(
            AuditFinding(
                .note, "\(notes.count - Self.limit) more files that only earlier metadata lists",
                at: report.subject,
                remedy: "prune the site: they go when no client can need them any more", hint: .pruning))
    }

    /// Every byte is held against what was signed. Keys are no help: those of that time may be others.
    private static func problems(
        of file: OpenFileReference, at place: String, as target: TargetRecord,
        _ observe: (AuditProgress) -> Void
    ) async throws(VaultError) -> [AuditFinding] {
        if let pack = try? PublishedPacks.Listing(target).pack {
            return await PackExamination(place: place, manifest: pack, keys: nil).run(on: file, observe)
                .findings
        }
        try HostedFile.verify(file, as: target, at: place)
        return []
    }
}
