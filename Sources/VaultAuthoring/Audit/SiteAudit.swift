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
    private let pinnedRoot: [UInt8]?
    private let keys: (any KeyProvider)?
    private let scratch: FilePath
    private let now: UTCTime
    private let expiryNotice: Int?

    /// - Parameters:
    ///   - pinnedRoot: a root file that the reader trusts. Without one the audit shows that the site is consistent, and
    ///     not whose it is.
    ///   - keys: nil for an audit without any key.
    ///   - scratch: an existing folder for one downloaded pack at a time; unused for a site that is a folder.
    ///   - now: the moment at which nothing may have expired.
    ///   - expiryNotice: metadata that expires within this number of days gives a warning; nil for a quarter of each role's period.
    public init(
        of site: Site, pinnedRoot: [UInt8]?, keys: (any KeyProvider)?, scratch: FilePath, now: UTCTime,
        expiryNotice: Int? = nil
    ) {
        self.site = site
        self.pinnedRoot = pinnedRoot
        self.keys = keys
        self.scratch = scratch
        self.now = now
        self.expiryNotice = expiryNotice
    }

    /// - Parameter observe: called with the progress.
    public func run(_ observe: (AuditProgress) -> Void = { _ in }) async -> AuditReport {
        var report = AuditReport(subject: site.location.description)
        guard
            let tree = await report.establishTrust(
                in: site, from: pinnedRoot, now: now, expiryNotice: expiryNotice)
        else { return report }
        report.findings += await KeptRoots(of: site, pinnedRoot: pinnedRoot)?.findings() ?? []
        let published = PublishedPacks(ofAllChannelsOf: tree)
        report.findings += await HostAudit(of: site, tree.chain, listing: published.packs)?.findings() ?? []
        let own = published.packs.lazy.filter { $0.team == nil }.map(\.pack).keyIDsByUse
        let keys = keys.map { CachingKeyProvider($0, reservingFor: own) }
        let names = await names(of: published, in: tree, openedWith: keys)
        for listing in published.packs {
            var pack = await examine(listing, in: tree.chain, openedWith: keys, observe)
            pack.name = names?[listed: listing.pack.id]?.name
            if listing.pack.id.description == PackNames.packID, !pack.isSound {
                pack.findings.append(.lostNames(at: pack.place))
            }
            report.append(pack)
        }
        report.findings += unnamedChannels(of: tree)
        for skipped in published.skipped {
            await examine(skipped.target, skippedBecause: skipped.reason, in: tree.chain, &report, observe)
        }
        report.findings += published.contested.map { .contested($0, at: report.subject) }
        if let root = site.location.path {
            let earlier = await EarlierListings(in: MetadataFolder(root.appending("metadata")), of: tree)
            await earlier.examine(at: site, in: tree.chain, &report, observe)
            report.findings += StrayFiles(below: root, of: tree, and: earlier).findings()
        }
        return report
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
        _ observe: (AuditProgress) -> Void
    ) async -> AuditedPack {
        var place = listing.target.path
        do throws(VaultError) {
            let location = try site.location(of: listing.target, in: chain)
            place = location.description
            let file = try await open(listing.target, at: location, observe)
            return await PackExamination(place: place, manifest: listing.pack, keys: keys)
                .run(on: file, observe)
        } catch {
            var pack = AuditedPack(place: place)
            (pack.id, pack.version) = (listing.pack.id, listing.pack.version)
            pack.length = listing.pack.length
            pack.keyIDs = listing.pack.slots.map(\.keyID)
            pack.findings.append(Finding(error, at: place))
            return pack
        }
    }

    /// A target that is not a pack for this program still has its signed length and digest.
    private func examine(
        _ target: TargetRecord, skippedBecause reason: String, in chain: TrustChain,
        _ report: inout AuditReport, _ observe: (AuditProgress) -> Void
    ) async {
        var place = target.path
        do throws(VaultError) {
            let location = try site.location(of: target, in: chain)
            place = location.description
            let file = try await open(target, at: location, observe)
            try HostedFile.verify(file, as: target, at: place)
            report.verifiedBytes += target.length
            let isOurs = PackManifest.format(of: target.json) == PackManifest.format
            report.findings.append(
                Finding(
                    isOurs ? .warning : .note, "skipped-target",
                    "only length and digest were checked, and clients skip it: \(reason)", at: place,
                    remedy: isOurs ? "publish it again" : "inspect it with the program that it is for"))
        } catch {
            report.findings.append(Finding(error, at: place))
        }
    }

    private func open(
        _ target: TargetRecord, at location: SiteLocation, _ observe: (AuditProgress) -> Void
    ) async throws(VaultError) -> OpenFileReference {
        try await HostedFile(
            target: target, location: location, transport: site.transport, scratch: scratch
        ).open { done in
            observe(AuditProgress(step: .fetching, pack: target.path, done: done, total: target.length))
        }
    }
}
