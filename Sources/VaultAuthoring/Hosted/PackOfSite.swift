public import SealedPack
public import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultCrypto
public import VaultSite
import VaultTransport

/// Finds a pack of a site by its ID, and reads its file: where it is in a folder, from a host a copy that is gone with the value.
public struct PackOfSite: Sendable {
    private let site: Site
    private let scratch: FilePath

    /// - Parameter scratch: an existing folder, for what is downloaded.
    public init(_ site: Site, scratch: FilePath) { (self.site, self.scratch) = (site, scratch) }

    /// The version of a pack that a channel lists, verified from a root that the reader trusts.
    ///
    /// - Parameter keys: needed only where the site's names are opaque.
    /// - Throws: `missing` for a pack that is not listed, `key` where the names are opaque and no given key opens their table,
    ///   `untrusted`, `corrupt` for another file than the one that was signed for.
    public func file(
        of name: PackID, in channel: Channel, pinnedRoot: VerifiedRoot, keys: (any KeyProvider)?, now: UTCTime
    ) async throws(VaultError) -> PackFile {
        let (pack, chain) = try await listed(name, in: channel, pinnedRoot, keys, now)
        return try await file(of: pack, in: chain)
    }

    /// The same version without its pieces, which ``HostedPack/read(_:of:_:)`` fetches.
    public func part(
        of name: PackID, in channel: Channel, pinnedRoot: VerifiedRoot, keys: (any KeyProvider)?, now: UTCTime
    ) async throws(VaultError) -> HostedPack {
        let (pack, chain) = try await listed(name, in: channel, pinnedRoot, keys, now)
        return try await HostedPack(pack, at: site, in: chain, scratch: scratch)
    }

    private func listed(
        _ name: PackID, in channel: Channel, _ pinnedRoot: VerifiedRoot, _ keys: (any KeyProvider)?, _ now: UTCTime
    ) async throws(VaultError) -> (pack: PackManifest, chain: TrustChain) {
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
        return (listed.pack, tree.chain)
    }

    /// The file of a listed version, which is the one that was signed for.
    func file(of pack: PackManifest, in chain: TrustChain) async throws(VaultError) -> PackFile {
        let target = try TargetRecord(path: pack.id.targetPath, json: pack.json)
        let location = try site.location(of: target, in: chain)
        // No progress is shown.
        let file = try await HostedFile(
            target: target, location: location, transport: site.transport, scratch: scratch
        ).open { _ in }
        try HostedFile.verify(file, as: target, at: location.description)
        return try PackFile(file, as: pack, named: location.description)
    }
}
