import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultFileSystem

/// A vault whose packs are made by tags, of a tree with a folder for each set of tags.
extension Game {
    /// Writes a file of the tree.
    func write(_ bytes: [UInt8], toTree path: String) throws {
        let file = FilePath(place.root).appending("tree").pushing(FilePath(path))
        try FileSystem.createFolders(file.removingLastComponent(), permissions: 0o755)
        try DurableFile.write(bytes.span, to: file, permissions: 0o644, replacing: true)
    }

    /// Declares the tree `game`.
    ///
    /// - Parameter tags: by the names of folders.
    func declareTree(
        _ tags: [(folder: String, tags: [String])], initial: [String] = [], preservation: JSONObject = [:]
    ) throws {
        let file = place.vault.path.appending("vault.json")
        let bytes = try DurableFile.read(file, limit: 1 << 20)
        var json = try JSONValue(parsing: bytes.span, place: "vault.json").asObject(at: "vault.json")
        let rules = tags.map { folder, tags -> JSONValue in
            ["paths": .string("\(folder)/**"), "tags": .array(tags.map(JSONValue.string))]
        }
        json["resources"] = [
            "game": [
                "source": .string(FilePath(place.root).appending("tree").string), "rules": .array(rules),
                "initial": .array(initial.map(JSONValue.string)), "preservation": .object(preservation),
            ]
        ]
        try DurableFile.write(
            JSONValue.object(json).pretty().span, to: file, permissions: 0o644, replacing: true)
    }

    /// Publishes what is declared.
    @discardableResult
    func publishTree() async throws -> PublicationReport {
        try await Publication.run(of: place.vault, AuthorRequest(keys: place.keys, now: .now))
    }
}
