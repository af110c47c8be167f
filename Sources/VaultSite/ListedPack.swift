public import SealedPack
import StrictJSON
public import UpdateFramework
public import VaultErrors

/// A pack that a site lists, and its target record.
///
/// Beside the version that the record describes it may hold others, for other versions of the app. Their files have the names
/// that they got when they were the only one: below `targets/`, the digest before the pack's name.
public struct ListedPack: Sendable {
    /// What a client takes, unless it is not for its version of the app.
    public let pack: PackManifest
    /// What other clients take: the first that is for their version of the app. The newest first.
    public let others: [PackManifest]
    public let target: TargetRecord

    private static let othersMember = "assetvaultOthers"
    private static let othersLimit = 64

    /// A target is valid only under the path of the pack that it describes: whoever may list some paths can't list a
    /// pack of others. Throws `.corrupt` for any other target, such as one of a later format.
    public init(_ target: TargetRecord) throws(VaultError) {
        let pack = try PackManifest(parsing: target.json, place: target.path)
        guard pack.id.targetPath.utf8.elementsEqual(target.path.utf8) else {
            throw VaultError(
                .corrupt, "it describes the pack '\(pack.id)'", at: target.path,
                remedy: "the site's owner must publish it under its own path")
        }
        var others: [PackManifest] = []
        for json in try target.custom?.optionalArray(Self.othersMember, at: target.path) ?? [] {
            others.append(
                try PackManifest(parsing: try json.asObject(at: target.path), place: target.path))
        }
        let versions = Set(others.map(\.version)).union([pack.version])
        guard others.count <= Self.othersLimit, versions.count == others.count + 1,
            others.allSatisfy({ $0.id == pack.id })
        else {
            throw VaultError(
                .corrupt, "its other versions are not of one pack, or too many", at: target.path,
                remedy: "the site's owner must publish it again")
        }
        (self.pack, self.others, self.target) = (pack, others, target)
    }

    /// A listing to be signed.
    public init(_ pack: PackManifest, others: [PackManifest] = []) throws(VaultError) {
        var json = pack.json
        if !others.isEmpty, case .object(var custom)? = json["custom"] {
            custom[Self.othersMember] = .array(others.map { .object($0.json) })
            json["custom"] = .object(custom)
        }
        try self.init(TargetRecord(path: pack.id.targetPath, json: json))
    }

    /// The version for a client; nil where none is for its version of the app. Without one it takes what the record describes.
    public func version(for app: AppVersion?) -> PackManifest? {
        guard let app else { return pack }
        return ([pack] + others).first { $0.offer.apps.admits(app) }
    }

    /// One listing for each version, with the record of its own file.
    public var eachVersion: [ListedPack] {
        others.isEmpty ? [self] : ([pack] + others).compactMap { try? ListedPack($0) }
    }
}

extension TargetRecord {
    /// The record, and those of the other versions that it holds: all files that it makes clients fetch.
    public var eachVersion: [TargetRecord] {
        guard let listed = try? ListedPack(self), !listed.others.isEmpty else { return [self] }
        return [self] + listed.eachVersion.dropFirst().map(\.target)
    }
}
