public import SealedPack
public import SystemPackage
public import VaultBase
import VaultFileSystem

/// The manifest of one asset pack of Apple's Background Assets, as far as its members have a meaning here: `assetPackID`,
/// `downloadPolicy`, `fileSelectors` and `language`.
public struct AppleManifest: Sendable {
    public let id: PackID
    /// The ID in the manifest, which may have capital letters.
    public let originalID: String
    /// Members without a meaning here.
    public let ignored: [String]
    /// Whether it names a language, which becomes a trait.
    public let hasLanguage: Bool
    /// The pack in `vault.json`, but for its source.
    let declaration: JSONObject

    private static let known = ["assetPackID", "downloadPolicy", "fileSelectors", "language"]

    /// - Throws: `.usage` for what can't be expressed here, `.corrupt` for what is not such a manifest.
    public init(reading path: FilePath) throws(VaultError) {
        let json = try JSONSource(parsing: DurableFile.read(path, limit: 1 << 20), name: path.string).located
        let name = try json.required("assetPackID")
        originalID = try name.string()
        let text = originalID.lowercased()
        id = try name.map { () throws(VaultError) in try PackID(text) }
        var declaration: JSONObject = [
            "policy": .string(try Self.policy(of: json.required("downloadPolicy")).rawValue),
            "include": .array(try Self.patterns(of: json.required("fileSelectors"))),
        ]
        if let language = try json["language"] {
            declaration["traits"] = ["language": .string(try language.string())]
        }
        self.declaration = declaration
        hasLanguage = declaration["traits"] != nil
        ignored =
            try json.members().map(\.name).filter { !Self.known.contains($0) }
            + Self.events(of: json.required("downloadPolicy"))
    }

    /// The members of the policy, such as the events that it applies to: `downloadPolicy.essential.installationEventTypes`.
    private static func events(of json: LocatedJSON) throws(VaultError) -> [String] {
        guard let policy = try json.members().first, case .object = policy.value.value else { return [] }
        return try policy.value.members().map { "downloadPolicy.\(policy.name).\($0.name)" }
    }

    /// One member with the policy's name; its events say that it applies to installations, updates, or both.
    private static func policy(of json: LocatedJSON) throws(VaultError) -> PackPolicy {
        let members = try json.members()
        guard members.count == 1, let name = members.first?.name, let policy = PackPolicy(rawValue: name)
        else {
            throw json.error(
                .corrupt, "\"downloadPolicy\" does not have one policy",
                remedy: "name one of \(PackPolicy.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return policy
    }

    /// Paths are relative to the folder in which the packaging tool runs.
    private static func patterns(of json: LocatedJSON) throws(VaultError) -> [JSONValue] {
        let selectors = try json.elements()
        guard !selectors.isEmpty else {
            throw json.error(.corrupt, "\"fileSelectors\" selects nothing", remedy: "name files or folders")
        }
        return try selectors.map { selector throws(VaultError) in
            try selector.requireMembers(among: ["file", "directory"])
            guard try selector.members().count < 2 else {
                throw selector.error(
                    .corrupt, "a selector has both \"file\" and \"directory\"",
                    remedy: "make two selectors of it")
            }
            let value =
                if let file = try selector["file"] { file } else { try selector.required("directory") }
            let path = try value.string()
            let segments = (path.hasSuffix("/") ? path.dropLast() : path[...])
                .split(separator: "/", omittingEmptySubsequences: false)
            guard segments.allSatisfy({ !["", ".", ".."].contains($0) }),
                !path.contains(where: { "*?[{!".contains($0) })
            else {
                throw value.error(
                    .usage, "the path '\(path.excerpt)' can't be a pattern",
                    remedy: "use a relative path without . and .., and without * ? [ { !")
            }
            return .string("/\(path)")
        }
    }
}

extension VaultSettings {
    /// The member `"packs"` with the packs of Apple's manifests. Throws `.usage` for two of one ID.
    ///
    /// - Parameter source: the folder in which the packaging tool runs, as the vault names it.
    static func packs(of manifests: [AppleManifest], source: FilePath) throws(VaultError) -> JSONObject {
        var packs = JSONObject()
        for manifest in manifests {
            guard packs[manifest.id.description] == nil else {
                throw VaultError(
                    .usage, "two manifests describe the pack '\(manifest.id)'", at: manifest.originalID,
                    remedy: "give each manifest once; IDs that differ by capital letters alone are one")
            }
            var declaration = manifest.declaration
            declaration["source"] = .string(source.string)
            packs[manifest.id.description] = .object(declaration)
        }
        return packs
    }
}
