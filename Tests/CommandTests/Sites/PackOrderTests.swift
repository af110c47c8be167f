import FaultServer
import Foundation
import StrictJSON
import Testing

/// `"order"` of packs in `vault.json`.
struct PackOrderTests {
    /// Packs of one policy come in ascending order; a negative number stands before those that give none.
    @Test func ascendingFromNegativeNumbers() async throws {
        let testSite = try await TestSite()
        let orders: [(String, Int64?)] = [("a", 2), ("b", nil), ("c", -1), ("d", -9_000_000_000), ("e", 1)]
        var packs: JSONObject = [:]
        for (name, order) in orders {
            try testSite.folder.write("\(name)/file", name)
            var pack: JSONObject = ["source": .string(testSite.folder[name])]
            pack["order"] = order.map { .integer($0) }
            packs[name] = .object(pack)
        }
        try testSite.settings { $0["packs"] = .object(packs) }
        try await testSite.publish()
        let listed = try await Command.run("list", testSite.site, "--json").succeeded().json()
        let shown = try #require(listed["packs"]?.elements).map { $0["order"]?.number }
        #expect(shown == orders.map { $0.1 ?? 0 })
        let server = try FaultServer(testSite.site)
        try await testSite.fetch(server.url, "--parallel", "1").succeeded()
        var asked: [String] = []
        for exchange in server.packs {
            let name = exchange.request.path.split(separator: ".").dropFirst().first.map(String.init) ?? ""
            if asked.last != name { asked.append(name) }
        }
        #expect(asked == ["d", "c", "b", "e", "a"])
    }
}
