public import SealedPack
public import UpdateFramework
public import VaultBase

/// A pack that a site lists, and its target record.
///
/// Beside the version that the record describes it may hold others, for other versions of the app. Each file keeps its own name,
/// `targets/…/DIGEST.NAME`.
public struct ListedPack: Sendable {
    /// The version that the record itself describes; see ``version(for:)``.
    public private(set) var pack: PackManifest
    /// What other clients take: the first that is for their version of the app. The newest first.
    public private(set) var otherVersions: [PackManifest]
    /// All of them, that of the record first.
    public var versions: [PackManifest] { [pack] + otherVersions }
    public let target: TargetRecord

    /// Whether this release can read all versions that the record holds.
    public let isComplete: Bool

    /// See ``TagGrants/rank(of:)``; 0 if read without grants.
    public private(set) var rank = 0
    /// See ``TargetRecord/signer``; nil if read without grants.
    public private(set) var signer: MetadataRole?
    /// Nil for a pack of the site's own.
    public var team: MetadataRole? { rank == 0 ? nil : signer }

    fileprivate static let othersMember = "assetvaultOthers"
    fileprivate static let othersLimit = 64

    /// A target is valid only under the path of the pack that it describes: a signer for some paths can't list a pack of others.
    /// Other versions of a later format are left out. Throws `.corrupt` for any other target, such as one of a later format.
    public init(_ target: TargetRecord) throws(VaultError) {
        let pack = try PackManifest(parsing: target.json, place: target.path)
        guard pack.id.targetPath.utf8.elementsEqual(target.path.utf8) else {
            throw VaultError(
                .corrupt, "it describes the pack '\(pack.id)'", at: target.path,
                remedy: "the site's owner must publish it under its own path")
        }
        let (others, isComplete) = try Self.others(in: target)
        let versions = Set(others.map(\.version)).union([pack.version])
        guard versions.count == others.count + 1, others.allSatisfy({ $0.id == pack.id }) else {
            throw Self.invalidOthers(at: target.path)
        }
        (self.pack, otherVersions, self.target, self.isComplete) = (pack, others, target, isComplete)
    }

    /// What a client of this release reads: where the version that the record describes is of a later format, the newest of the
    /// others takes its place, with the record of its own file. Tags that are not granted to the signer of the record are withheld.
    /// Throws as ``init(_:)`` does, and `.untrusted` for a table of opaque names that is not the site's own: it says which packs
    /// have which names.
    public static func readable(
        in target: TargetRecord, granting grants: TagGrants
    ) throws(VaultError) -> ListedPack {
        var listed = try readable(in: target)
        try listed.restrict(by: grants, to: target.signer)
        return listed
    }

    /// Withholds the tags that are not granted to its signer. Throws `.untrusted` for a pack that only the site itself may list.
    mutating func restrict(by grants: TagGrants, to signer: MetadataRole?) throws(VaultError) {
        guard grants.rank(of: signer) == 0 || pack.id.description != PackNames.packID else {
            throw VaultError(
                .untrusted, "a team lists the table of opaque names, which is the site's own",
                at: target.path,
                remedy: "the site's owner must give the team other paths")
        }
        pack = pack.granted(by: grants, to: signer)
        otherVersions = otherVersions.map { $0.granted(by: grants, to: signer) }
        self.signer = signer
        rank = grants.rank(of: signer)
    }

    private static func readable(in target: TargetRecord) throws(VaultError) -> ListedPack {
        do throws(VaultError) { return try ListedPack(target) } catch {
            guard error.needsNewerRelease, let pack = try others(in: target).readable.first,
                pack.id.targetPath.utf8.elementsEqual(target.path.utf8)
            else { throw error }
            return try ListedPack(pack, otherVersions: Array(others(in: target).readable.dropFirst()))
        }
    }

    private static func others(in target: TargetRecord) throws(VaultError) -> (
        readable: [PackManifest], isComplete: Bool
    ) {
        let values = try target.custom?.optionalArray(othersMember, at: target.path) ?? []
        guard values.count <= othersLimit else { throw invalidOthers(at: target.path) }
        var readable: [PackManifest] = []
        for value in values {
            do throws(VaultError) {
                readable.append(
                    try PackManifest(parsing: try value.asObject(at: target.path), place: target.path))
            } catch {
                // It is for clients of newer releases.
                guard error.needsNewerRelease else { throw error }
            }
        }
        return (readable, readable.count == values.count)
    }

    private static func invalidOthers(at place: String) -> VaultError {
        VaultError(
            .corrupt, "its other versions are not of one pack, or too many", at: place,
            remedy: "the site's owner must publish it again")
    }

    /// A listing to be signed.
    public init(_ pack: PackManifest, otherVersions: [PackManifest] = []) throws(VaultError) {
        var json = pack.json
        if !otherVersions.isEmpty, case .object(var custom)? = json["custom"] {
            custom[Self.othersMember] = .array(otherVersions.map { .object($0.json) })
            json["custom"] = .object(custom)
        }
        try self.init(TargetRecord(path: pack.id.targetPath, json: json))
    }

    /// A listing to be signed, of all versions of a pack; nil where there is none.
    public init?(_ versions: [PackManifest]) throws(VaultError) {
        guard let first = versions.first else { return nil }
        try self.init(first, otherVersions: Array(versions.dropFirst()))
    }

    /// The version for a client; nil where none is for its version of the app. A client without one counts as the newest app: it
    /// takes the version that is for apps without an upper bound, else that with the highest one.
    public func version(for app: AppVersion?) -> PackManifest? {
        if let app { return versions.first { $0.offer.apps.admits(app) } }
        if let unbounded = versions.first(where: { $0.offer.apps.before == nil }) { return unbounded }
        let highest = versions.compactMap(\.offer.apps.before).max()
        return versions.first { $0.offer.apps.before == highest }
    }
}

extension TargetRecord {
    /// The record, and those of the other versions that it holds, also of later formats: all files that it makes clients
    /// fetch.
    public var eachVersion: [TargetRecord] {
        guard case .array(let others)? = custom?[ListedPack.othersMember],
            others.count <= ListedPack.othersLimit
        else { return [self] }
        return [self]
            + others.compactMap { (other) -> TargetRecord? in
                guard case .object(let json) = other else { return nil }
                var record = try? TargetRecord(path: path, json: json)
                record?.signer = signer
                return record
            }
    }

    /// The version number that the record of a pack states, whatever its format; nil where it can't be read.
    public var statedVersion: UInt64? {
        guard case .object(let vault)? = custom?["assetvault"], case .integer(let number)? = vault["version"]
        else { return nil }
        return UInt64(exactly: number)
    }

    /// The tags that the record of a pack states, whatever its format; nil where they can't be read.
    var statedTags: [String]? {
        guard case .object(let vault)? = custom?["assetvault"] else { return nil }
        return vault["tags"]?.texts
    }
}
