import Foundation
import StrictJSON
import Testing

/// A vault with the channels `dev`, `beta` and `live`, and a pack `level`.
struct ChannelSite {
    let testSite: TestSite
    var folder: TemporaryFolder { testSite.folder }

    /// Version 1 is in all channels, 2 in dev and beta, 3 in dev.
    init(bins: Int64? = nil) async throws {
        testSite = try await TestSite()
        try testSite.settings {
            $0["channels"] = ["dev", "beta", "live"]
            $0["bins"] = bins.map { .integer($0) }
        }
        try folder.write("level/file", "version 1")
        try await testSite.publish("--pack", "level=\(folder["level"])")
        try await promote("--all", from: "dev", to: "beta").succeeded()
        try await promote("--all", from: "beta", to: "live").succeeded()
        try await publish(2)
        try await promote("--all", from: "dev", to: "beta").succeeded()
        try await publish(3)
    }

    func publish(_ version: Int) async throws {
        try folder.write("level/file", "version \(version)")
        try await testSite.publish()
    }

    func promote(
        _ arguments: String..., from origin: String, to destination: String
    ) async throws -> CommandResult {
        try await Command.run(
            ["promote", testSite.vault, "--from", origin, "--to", destination] + arguments)
    }

    /// The versions that the site lists in a channel, by ID.
    func listed(in channel: String) async throws -> [String: Int64] {
        let answer = try await Command.run(
            "list", testSite.site, "--trust", testSite.root, "--channel", channel, "--json"
        ).succeeded().json()
        let packs = try #require(answer["packs"]?.elements)
        return packs.reduce(into: [:]) { versions, pack in
            versions[pack["id"]?.text ?? ""] = pack["version"]?.number
        }
    }

    /// Fetches as the client of one store, and returns the content of its `level`.
    func level(_ arguments: String..., in store: String? = nil) async throws -> String {
        let store = store ?? testSite.store
        try await Command.run(
            ["fetch", testSite.site, "--all", "--store", store, "--trust", testSite.root] + testSite.keys
                + arguments
        ).succeeded()
        return try String(
            contentsOfFile: try await testSite.path(of: "level", in: store) + "/file", encoding: .utf8)
    }
}
