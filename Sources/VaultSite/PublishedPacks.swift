public import SealedPack
public import UpdateFramework
public import VaultErrors

/// The packs that a site's verified metadata lists.
public struct PublishedPacks: Sendable {
    /// A pack and the target that stands for it.
    public struct Listing: Sendable {
        public let pack: PackManifest
        public let target: TargetRecord
    }

    /// A target that is no pack for this program, and why.
    public struct Skipped: Sendable {
        public let path: String
        public let reason: String
    }

    /// In the order of their IDs.
    public let listings: [Listing]
    public let skipped: [Skipped]

    /// Everything that the site lists. What is no pack for this program is skipped and spoils nothing else.
    public init(of tree: TargetTree) {
        self.init(listed: tree.records)
    }

    /// What one role lists by itself.
    public init(of targets: VerifiedTargets) {
        self.init(listed: targets.records)
    }

    private init(listed records: [TargetRecord]) {
        var listings: [Listing] = []
        listings.reserveCapacity(records.count)
        var skipped: [Skipped] = []
        for target in records {
            do throws(VaultError) {
                listings.append(try Listing(target))
            } catch {
                skipped.append(Skipped(path: target.path, reason: error.problem))
            }
        }
        listings.sort { $0.pack.id < $1.pack.id }
        self.listings = listings
        self.skipped = skipped
    }

    public subscript(id: PackID) -> Listing? {
        listings.first { $0.pack.id == id }
    }
}

extension PublishedPacks {
    /// Packs that several listings claim, by their content key: one ID has it rightly, the others are described by somebody
    /// who may sign other names.
    public var contested: [[Listing]] {
        Dictionary(grouping: listings) { $0.pack.contentKeyID }.values.filter { $0.count > 1 }
            .sorted { $0[0].pack.id < $1[0].pack.id }
    }

    /// What the site says of a pack in a file, which is known by its length, header and footer. Throws `.missing` when it
    /// lists no such pack, `.corrupt` when it lists several: one is the pack, the others were described once more by
    /// somebody who may sign other names.
    public func manifest(of file: PackFile, at place: String) throws(VaultError) -> PackManifest {
        let found = listings.filter { file.matches($0.pack) }
        guard let first = found.first else {
            throw VaultError(
                .missing, "the site lists no pack with this file's length, header and footer", at: place,
                remedy: "use the site that published it, or its manifest")
        }
        guard found.count == 1 else {
            let names = found.map { "'\($0.pack.id)'" }.joined(separator: " and ")
            throw VaultError(
                .corrupt, "the site lists this pack as \(names)", at: place,
                remedy: "give its manifest, and tell the publisher")
        }
        return first.pack
    }
}

extension PublishedPacks.Listing {
    /// A target counts only if its path is the one of the pack that it describes: so nobody who may list some paths can
    /// speak for a pack of others. Throws `corrupt` for any other, such as one of a later format.
    public init(_ target: TargetRecord) throws(VaultError) {
        let pack = try PackManifest(parsing: target.json, place: target.path)
        guard pack.id.targetPath.utf8.elementsEqual(target.path.utf8) else {
            throw VaultError(
                .corrupt, "it describes the pack '\(pack.id)'", at: target.path,
                remedy: "the site's owner must publish it under its own path")
        }
        self.init(pack: pack, target: target)
    }
}
