import StrictJSON
import Testing

/// A site whose packs, and those of its team, have tags.
extension Studio {
    /// The team publishes its pack with the tags `both` and `theirs`, then the studio its own with `both`.
    func publish(
        granting tags: [JSONValue]? = nil, bins: Int64? = nil, for audiences: [JSONValue] = []
    ) async throws -> CommandResult {
        var pack: JSONObject = ["tags": ["both", "theirs"], "order": -100]
        if !audiences.isEmpty { pack["for"] = .array(audiences) }
        try declareTeam(["dlc1/one": pack])
        try await publishTeam()
        try testSite.settings {
            $0["packs"] = ["level": ["source": .string(folder["level"]), "tags": ["both"], "order": 100]]
            $0["bins"] = bins.map { .integer($0) }
        }
        try grant(tags)
        return try await testSite.publish()
    }

    /// The packs that are loaded after a fetch.
    func fetched(_ arguments: String..., into store: String) async throws -> [String] {
        try await Command.run(
            ["fetch", testSite.site, "--store", store, "--trust", testSite.root] + arguments + testSite.keys
        ).succeeded()
        return try await testSite.status(of: store).filter { $0.value.version != nil }.keys.sorted()
    }

    /// Runs a program with access to a tag, which prints `file`.
    func access(
        _ tag: String, in store: String, isOnline: Bool = true, keys: [String]? = nil
    ) async throws -> CommandResult {
        try await Command.run(
            ["access", tag, "--store", store] + (keys ?? testSite.keys)
                + (isOnline ? ["--site", testSite.site, "--trust", testSite.root] : [])
                + ["--", "sh", "-c", "cat \"$ASSETVAULT_RESOURCES/file\""])
    }
}
