import Foundation
import Testing
import VaultBase

/// A vault with the channels `dev`, `beta` and `live`, and a pack `level`.
extension World {
    /// Version 1 is in all channels, 2 in dev and beta, 3 in dev.
    static func withChannels(bins: Int64? = nil) async throws -> World {
        let world = try await World()
        try world.settings {
            $0["channels"] = ["dev", "beta", "live"]
            $0["bins"] = bins.map { .integer($0) }
        }
        try world.write("level/file", "version 1")
        try await world.publish(packs: ["level"])
        try await world.promote("--all", from: "dev", to: "beta").succeeded()
        try await world.promote("--all", from: "beta", to: "live").succeeded()
        try await world.publish(level: "version 2")
        try await world.promote("--all", from: "dev", to: "beta").succeeded()
        try await world.publish(level: "version 3")
        return world
    }

    func promote(
        _ words: Words, from origin: String, to destination: String
    ) async throws -> CommandResult {
        try await run("promote $VAULT --from \(origin) --to \(destination) \(words)")
    }

    /// Fetches as the client of one store, and returns the content of its `level`.
    func level(_ options: Words = "", in store: String? = nil) async throws -> String {
        try await fetch("--all \(options)", into: store).succeeded()
        return try String(contentsOfFile: try await path(of: "level", in: store) + "/file", encoding: .utf8)
    }
}
