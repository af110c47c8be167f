public import SealedPack
public import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultCrypto
public import VaultSite
import VaultTransport

/// A version of a pack that a site lists: its file is read where it is in a folder, and from a host a copy that is gone with the value.
public struct PackOfSite: Sendable {
    private let pack: PackManifest
    private let site: Site
    private let chain: TrustChain
    private let scratch: FilePath

    /// - Parameter scratch: an existing folder, for what is downloaded.
    init(_ pack: PackManifest, at site: Site, in chain: TrustChain, scratch: FilePath) {
        (self.pack, self.site, self.chain, self.scratch) = (pack, site, chain, scratch)
    }

    /// Finds what a channel lists, verified from a root that the reader trusts.
    ///
    /// - Parameters:
    ///   - keys: needed only where the site's names are opaque.
    ///   - scratch: an existing folder, for what is downloaded.
    /// - Throws: `missing` for a pack that is not listed, `key` where the names are opaque and no given key opens their table,
    ///   `untrusted`.
    public init(
        named name: PackID, in channel: Channel, of site: Site, pinnedRoot: VerifiedRoot,
        keys: (any KeyProvider)?, scratch: FilePath, now: UTCTime
    ) async throws(VaultError) {
        let tree = try await TargetTree.verifying(site, pinnedRoot: pinnedRoot, now: now)
        let published = try PublishedPacks(of: tree, in: channel)
        var names = PackNames()
        if tree.hasOpaqueNames(channel) {
            guard let keys else {
                throw VaultError(
                    .key, "the site's names are opaque, and no key was given", at: name.description,
                    remedy: "give a key of the site", hint: .givingKey)
            }
            names =
                try await PackNames.open(
                    listedBy: tree, in: published, of: channel, at: site, keys: keys, scratch: scratch)
                ?? names
        }
        guard let listed = published[names.listedID(of: name) ?? name] else {
            throw VaultError(
                .missing, "neither a file nor a pack that the site lists", at: name.description,
                remedy: "check the path or the ID"
            ).suggesting(
                name.description, among: published.packs.map { names.shownID(of: $0.pack.id).description })
        }
        self.init(listed.pack, at: site, in: tree.chain, scratch: scratch)
    }

    /// Without its pieces, which ``HostedPack/read(_:of:_:)`` fetches.
    public func part() async throws(VaultError) -> HostedPack {
        try await HostedPack(pack, at: site, in: chain, scratch: scratch)
    }

    /// - Throws: `corrupt` for another file than the one that was signed for.
    public func file() async throws(VaultError) -> PackFile {
        let target = try TargetRecord(path: pack.id.targetPath, json: pack.json)
        let location = try site.location(of: target, in: chain)
        // No progress is shown.
        let file = try await TargetFile(
            target: target, location: location, transport: site.transport, scratch: scratch
        ).open { _ in }
        try target.verify(file, at: location.description)
        return try PackFile(file, as: pack, named: location.description)
    }
}
