import SealedPack
public import SystemPackage
public import UpdateFramework
import VaultBase
public import VaultCrypto
import VaultFileSystem
public import VaultSite
import VaultTransport

/// Verifies every file that a site's signed metadata lists, wherever the site is hosted, and with keys every file in its packs. An
/// error in one file never keeps the others from being verified.
public struct SiteAudit: Sendable {
    private let site: Site
    private let pinnedRoot: VerifiedRoot?
    private let keys: (any KeyProvider)?
    private let scratch: FilePath
    private let now: UTCTime
    private let expiryNotice: Int?
    private let mirrors: [Site]
    private let ledger: AuditLedger?
    /// Of all files: a host that is slow for each of many keeps the audit no longer than one that is slow for one.
    private let meter = ThroughputMeter()

    /// - Parameters:
    ///   - pinnedRoot: a root that the reader trusts. Without one the audit shows that the site is consistent, and
    ///     not whose it is.
    ///   - keys: nil for an audit without any key.
    ///   - scratch: an existing folder for one downloaded pack at a time; unused for a site that is a folder.
    ///   - now: the moment at which nothing may have expired.
    ///   - expiryNotice: metadata that expires within this number of days gives a warning; nil for a quarter of each role's period.
    ///   - mirrors: other hosts of the site, which are compared with it.
    ///   - ledger: what earlier audits of the site found; by it only a part may be verified.
    public init(
        of site: Site, pinnedRoot: VerifiedRoot?, keys: (any KeyProvider)?, scratch: FilePath, now: UTCTime,
        expiryNotice: Int? = nil, mirrors: [Site] = [], ledger: AuditLedger? = nil
    ) {
        self.site = site
        self.pinnedRoot = pinnedRoot
        self.keys = keys
        self.scratch = scratch
        self.now = now
        self.expiryNotice = expiryNotice
        self.mirrors = mirrors
        self.ledger = ledger
    }

    /// - Parameter observe: called with the progress.
    public func run(_ observe: (WorkProgress) -> Void = { _ in }) async -> AuditReport {
        var report = AuditReport(subject: site.location.description)
        guard
            let tree = await report.establishTrust(
                in: site, from: pinnedRoot, now: now, expiryNotice: expiryNotice)
        else {
            await audit(host: nil, listing: [], &report)
            return report
        }
        if let ledger {
            do throws(VaultError) {
                let seen = await SeenSite(tree, at: site, pinnedRoot: pinnedRoot)
                report.findings += try ledger.compare(seen)
            } catch {
                report.refuse(error)
                return report
            }
        }
        report.findings += await KeptRoots(of: site, pinnedRoot: pinnedRoot)?.findings() ?? []
        let published = PublishedPacks(ofAllChannelsOf: tree)
        for mirror in mirrors {
            report.findings += await MirrorAudit(of: mirror, against: tree, of: site, pinnedRoot: pinnedRoot)
                .findings()
        }
        await audit(host: tree.chain, listing: published.packs, &report)
        var earlier: EarlierListings?
        if let root = site.location.path {
            earlier = await EarlierListings(in: MetadataFolder(root.appending("metadata")), of: tree)
        }
        await examine(published, and: earlier, of: tree, &report, observe)
        report.findings += unnamedChannels(of: tree)
        report.findings += published.contested.map { .contested($0, at: report.subject) }
        if let root = site.location.path, let earlier {
            report.findings += StrayFiles(below: root, of: tree, and: earlier).findings()
        }
        if let (coverage, history, findings) = ledger?.finish(at: report.subject) {
            (report.coverage, report.history) = (coverage, history)
            report.findings += findings
        }
        return report
    }

    /// Verifies the listed files, in their order, or those whose turn it is.
    private func examine(
        _ published: PublishedPacks, and earlier: EarlierListings?, of tree: TargetTree,
        _ report: inout AuditReport, _ observe: (WorkProgress) -> Void
    ) async {
        let own = published.packs.lazy.filter { $0.team == nil }.map(\.pack).keyIDsByUse
        let keys = keys.map { CachingKeyProvider($0, reservingFor: own) }
        let names = await names(of: published, in: tree, openedWith: keys)
        let retired = retiredKeys(of: tree, &report)
        let kept = earlier?.files(at: site, in: tree.chain)
        let files =
            published.packs.map(ListedFile.pack) + published.skipped.map(ListedFile.skipped)
            + (kept?.present ?? []).map(ListedFile.earlier)
        var notes = kept?.gone ?? []
        report.findings += earlier?.findings ?? []
        let mayList = !tree.refusals.isEmpty || report.findings.contains { $0.code == "rolled-back" }
        let order = ledger?.schedule(files.map(\.target), withKeys: keys != nil, keepsUnlisted: mayList)
        let indices = order ?? Array(files.indices)
        let expected = ledger?.expected(indices.lazy.map { files[$0].target.length }) ?? indices.count
        var work = WholeWork(
            indices.prefix(expected).map { ($0, files[$0].target.length) },
            steps: steps(withKeys: keys != nil))
        for index in indices where ledger?.admitsAnother ?? true {
            let file = files[index]
            var findings: [Finding] = []
            // Nothing more of other files is verified with keys.
            var isOpened = keys != nil
            switch file {
            case .pack(let listing):
                var pack = await examine(listing, in: tree.chain, openedWith: keys) {
                    observe(work.adding($0, of: index))
                }
                (findings, isOpened) = (pack.findings, pack.verifiedEntries != nil)
                pack.name = names?[listed: listing.pack.id]?.name
                for role in Set([.targets, listing.team ?? .targets]) {
                    pack.findings += retired[role]?.findings(of: listing, at: pack.place) ?? []
                }
                if listing.pack.id.description == PackNames.packID, !pack.isSound {
                    pack.findings.append(.lostNames(at: pack.place))
                }
                report.append(pack)
            case .skipped(let skipped):
                findings = await examine(
                    skipped.target, skippedBecause: skipped.reason, in: tree.chain
                ) { observe(work.adding($0, of: index)) }
                report.append(findings, of: skipped.target)
            case .earlier(let listing):
                findings = await examine(listing, in: tree.chain) { observe(work.adding($0, of: index)) }
                // It was pruned while others were verified.
                if let missing = findings.first(where: { $0.code == "missing-file" }) {
                    notes.append(listing.gone(at: missing.place))
                    continue
                }
                report.append(findings.filter { $0.severity != .note }, of: listing.target)
                notes += findings.filter { $0.severity == .note }
            }
            ledger?.note(file.target, findings, withKeys: isOpened)
        }
        report.findings += Finding.first(
            of: notes, kind: "files that only earlier metadata lists", at: report.subject)
    }

    /// Of each file.
    private func steps(withKeys: Bool) -> [WorkProgress.Step] {
        (site.location.path == nil ? [.fetching] : []) + [.checking] + (withKeys ? [.opening] : [])
    }

    /// The vault's own are in its targets, and concern teams, too; a team's own are in its role.
    private func retiredKeys(of tree: TargetTree, _ report: inout AuditReport) -> [MetadataRole: RetiredKeys]
    {
        var keys: [MetadataRole: RetiredKeys] = [:]
        for role in tree.targetsRoles {
            do throws(VaultError) { keys[role.document.role] = try RetiredKeys(in: role.document) } catch {
                report.findings.append(Finding(error))
            }
        }
        return keys
    }

    private func audit(
        host chain: TrustChain?, listing packs: [ListedPack], _ report: inout AuditReport
    ) async {
        let audit = HostAudit(of: site, chain, listing: packs, now: now, expiryNotice: expiryNotice)
        let found = await audit?.run()
        // A host that does not answer is not examined.
        if chain != nil || found?.findings.isEmpty == false { report.host = found }
    }

    /// Channels with opaque names that list packs, and no table.
    private func unnamedChannels(of tree: TargetTree) -> [Finding] {
        tree.chain.channels.filter(tree.hasOpaqueNames).compactMap { channel in
            guard let packs = try? PublishedPacks(of: tree, in: channel).packs, !packs.isEmpty,
                !packs.contains(where: { $0.pack.id.description == PackNames.packID })
            else { return nil }
            return .unnamed(channel, at: site.location.description)
        }
    }

    /// Nil if names are public, or no key opens them: an error in their table is found as in any pack.
    private func names(
        of published: PublishedPacks, in tree: TargetTree, openedWith keys: (any KeyProvider)?
    ) async -> PackNames? {
        guard let keys else { return nil }
        let names = try? await PackNames.open(
            listedBy: tree, in: published, of: nil, at: site, keys: keys, scratch: scratch)
        return names ?? nil
    }

    private func examine(
        _ listing: ListedPack, in chain: TrustChain, openedWith keys: (any KeyProvider)?,
        _ observe: (WorkProgress) -> Void
    ) async -> AuditedPack {
        var place = listing.target.path
        do throws(VaultError) {
            let location = try site.location(of: listing.target, in: chain)
            place = location.description
            let file = try await open(listing.target, at: location, observe)
            return await PackExamination(
                place: place, manifest: listing.pack,
                siteFolder: site.location.path == nil ? nil : site.location.description, keys: keys
            ).run(on: file, observe)
        } catch {
            var pack = AuditedPack(place: place, of: listing.pack)
            pack.findings.append(Finding(error.asDamage(in: site), at: place))
            return pack
        }
    }

    /// Without a problem it is noted that the file can be removed. Keys are not used: those of its time may be others.
    private func examine(
        _ earlier: EarlierListings.Listing, in chain: TrustChain, _ observe: (WorkProgress) -> Void
    ) async -> [Finding] {
        func prunable(at place: String) -> Finding {
            .prunable(
                "an earlier version, which can be restored; \(earlier.metadata) lists it", at: place)
        }
        guard let pack = try? ListedPack(earlier.target) else {
            return await verify(earlier.target, in: chain, observe, orNote: prunable)
        }
        let examined = await examine(pack, in: chain, openedWith: nil, observe)
        return examined.findings.isEmpty ? [prunable(at: examined.place)] : examined.findings
    }

    private func examine(
        _ target: TargetRecord, skippedBecause reason: String, in chain: TrustChain,
        _ observe: (WorkProgress) -> Void
    ) async -> [Finding] {
        await verify(target, in: chain, observe) { place in
            let isOurs = PackManifest.format(of: target.json) == PackManifest.format
            return Finding(
                isOurs ? .warning : .note, "skipped-target",
                "only length and digest were checked, and clients skip it: \(reason)", at: place,
                remedy: isOurs ? "publish it again" : "inspect it with the program that it is for")
        }
    }

    /// Compares a target that is not a pack for this program with its signed length and digest.
    ///
    /// - Parameter sound: the finding for a sound file, with its place.
    private func verify(
        _ target: TargetRecord, in chain: TrustChain, _ observe: (WorkProgress) -> Void,
        orNote sound: (String) -> Finding
    ) async -> [Finding] {
        var place = target.path
        do throws(VaultError) {
            let location = try site.location(of: target, in: chain)
            place = location.description
            try target.verify(try await open(target, at: location, observe), at: place)
            return [sound(place)]
        } catch {
            return [Finding(error.asDamage(in: site), at: place)]
        }
    }

    private func open(
        _ target: TargetRecord, at location: SiteLocation, _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) -> OpenFileReference {
        try await TargetFile(
            target: target, location: location, transport: site.transport, scratch: scratch, meter: meter
        ).open { done in
            observe(WorkProgress(.fetching, target, done))
        }
    }
}

/// A file that a site's signed metadata lists.
private enum ListedFile {
    case pack(ListedPack)
    case skipped(PublishedPacks.Skipped)
    case earlier(EarlierListings.Listing)

    var target: TargetRecord {
        switch self {
        case .pack(let listing): listing.target
        case .skipped(let skipped): skipped.target
        case .earlier(let listing): listing.target
        }
    }
}
