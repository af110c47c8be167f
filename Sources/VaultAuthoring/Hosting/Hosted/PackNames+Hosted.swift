import SealedPack
public import SystemPackage
public import UpdateFramework
public import VaultBase
public import VaultCrypto
public import VaultSite
import VaultTransport

extension PackNames {
    /// Downloads, verifies and decrypts the table of pack names of a channel that hides them, of several channels each table that a
    /// key opens. Nil where names are public.
    ///
    /// - Parameters:
    ///   - channel: the one that lists the packs; nil for all.
    ///   - scratch: an existing folder, for the downloaded pack.
    /// - Throws: `missing` where names are hidden and no table of them is listed; where none of the tables can be opened what is wrong
    ///   with one, `key` where no key opens any.
    public static func open(
        listedBy tree: TargetTree, in packs: PublishedPacks, of channel: Channel?, at site: Site,
        keys: any KeyProvider, scratch: FilePath
    ) async throws(VaultError) -> PackNames? {
        guard channel.map(tree.hasOpaqueNames) ?? tree.hasOpaqueNames else { return nil }
        // A site without packs has no names either.
        if packs.packs.isEmpty { return PackNames() }
        let tables = packs.packs.map(\.pack).filter { $0.id.description == packID }
        guard !tables.isEmpty else {
            throw VaultError(
                .missing, "the site hides the names of its packs, and lists no table of them",
                at: site.location.description, remedy: "publish the vault again")
        }
        var names: PackNames?
        var failure: VaultError?
        // If several tables name a pack, the newest table counts.
        for table in tables.reversed() {
            do throws(VaultError) {
                let file = try await PackOfSite(table, at: site, in: tree.chain, scratch: scratch).file()
                let opened = try await Self.names(in: file, keys: keys, at: site.location.description)
                var known = names ?? PackNames()
                known.complete(by: opened, for: packs.packs.map(\.pack.id))
                names = known
            } catch {
                guard !error.isCancellation else { throw error }
                // Damage says more than a missing key.
                if failure == nil || failure?.category == .key { failure = error }
            }
        }
        if names == nil, let failure { throw failure }
        return names
    }

    private static func names(
        in file: PackFile, keys: any KeyProvider, at place: String
    ) async throws(VaultError) -> PackNames {
        let pack = try await OpenPack(file, keys: keys)
        guard let bytes = try await pack.file(at: EntryPath(path), limit: UInt64(sizeLimit)) else {
            throw VaultError(
                .corrupt, "it has no '\(path)' of at most \(sizeLimit) bytes", at: place,
                remedy: "publish the vault again")
        }
        return try PackNames(parsing: bytes, place: place)
    }
}
