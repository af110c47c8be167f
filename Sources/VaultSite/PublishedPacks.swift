public import SealedPack
public import UpdateFramework
public import VaultErrors

/// A pack that a site lists, and its target record.
public struct ListedPack: Sendable {
    public let pack: PackManifest
    public let target: TargetRecord
}

/// The packs that a site's verified metadata lists.
public struct PublishedPacks: Sendable {
    /// A target that this program can't read as a pack, and why.
    public struct Skipped: Sendable {
        public let path: String
        public let reason: String
    }

    /// Sorted by pack ID.
    public let packs: [ListedPack]
    public let skipped: [Skipped]

    /// All packs that the site lists. Targets that this program can't read as packs are skipped.
    public init(of tree: TargetTree) {
        let records = tree.records
        var packs: [ListedPack] = []
        packs.reserveCapacity(records.count)
        var skipped: [Skipped] = []
        for target in records {
            do throws(VaultError) {
                packs.append(try ListedPack(target))
            } catch {
                skipped.append(Skipped(path: target.path, reason: error.problem))
            }
        }
        packs.sort { $0.pack.id < $1.pack.id }
        self.packs = packs
        self.skipped = skipped
    }

    public subscript(id: PackID) -> ListedPack? {
        packs.first { $0.pack.id == id }
    }

    /// Packs of several IDs that have one content key, and are not of one family. Only one ID is legitimate; the others
    /// were signed by somebody else who may sign other names.
    public var contested: [[ListedPack]] {
        Dictionary(grouping: packs) { $0.pack.contentKeyID }.values
            .filter { packs in
                let family = packs[0].pack.offer.family
                return packs.count > 1 && (family == nil || packs.contains { $0.pack.offer.family != family })
            }
            .sorted { $0[0].pack.id < $1[0].pack.id }
    }

    /// The manifest of a pack file, found by its length, header and footer. Throws `.missing` when the site lists no
    /// such pack, `.corrupt` when it lists several: only one is legitimate.
    public func manifest(of file: PackFile, at place: String) throws(VaultError) -> PackManifest {
        let found = packs.filter { file.matches($0.pack) }
        guard let first = found.first else {
            throw VaultError(
                .missing, "the site lists no pack with this file's length, header and footer", at: place,
                remedy: "use the site that published it, or its manifest")
        }
        guard found.count == 1 else {
            let names = found.map { "'\($0.pack.id)'" }.joined(separator: " and ")
            throw VaultError(
                .corrupt, "the site lists this pack as \(names)", at: place,
                remedy: "give its manifest, and report it to the publisher")
        }
        return first.pack
    }
}

extension ListedPack {
    /// A target is valid only under the path of the pack that it describes: whoever may list some paths can't list a
    /// pack of others. Throws `.corrupt` for any other target, such as one of a later format.
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
