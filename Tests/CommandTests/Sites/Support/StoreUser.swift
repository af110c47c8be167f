import Foundation
import Testing

/// A process that uses a store repeatedly, and records what it did.
struct StoreUser: Sendable {
    let sites: PreparedSites
    let url: String
    let store: String
    let history: StoreHistory
    let packs: [String]

    func run(_ operation: StoreHistory.Operation) async throws {
        let clock = ContinuousClock()
        let (start, published) = (clock.now, sites.version)
        var exitCode: Int32 = 0
        var errorText = ""
        var versions: [String: Int] = [:]
        var complaint: String?
        switch operation {
        case .read(let id): (versions, complaint) = read(id)
        case .status:
            do { versions = try await statedVersions() } catch { complaint = "status: \(error)" }
        default:
            let result = try await sites.world.run(words(for: operation))
            (exitCode, errorText) = (result.exitCode, result.errorText)
        }
        history.note(
            StoreHistory.Event(
                operation: operation, start: start, end: clock.now, exitCode: exitCode,
                published: published...sites.version, versions: versions, complaint: complaint,
                errorText: errorText))
    }

    private func words(for operation: StoreHistory.Operation) -> Words {
        let site: Words = "\(url) --store \(store) --trust \(sites.world.root)"
        return switch operation {
        case .fetch(let id, let withKeys):
            "fetch \(site) \(id.map { [$0] } ?? []) \(withKeys ? sites.world.keys : [])"
        case .downloader: "downloader --request update \(site)"
        case .unlock: "unlock --store \(store) \(sites.world.keys)"
        case .remove(let id): "remove \(id) --store \(store)"
        case .path(let id): "path \(id) --store \(store)"
        case .status, .read: "status --store \(store)"
        }
    }

    private func statedVersions() async throws -> [String: Int] {
        let status = try await sites.world.status(of: store)
        return Dictionary(uniqueKeysWithValues: packs.map { ($0, Int(status[$0]?.version ?? 0)) })
    }

    /// Reads a whole tree. A replaced tree may be removed while it is read, but never shows another version.
    private func read(_ id: String) -> (seen: [String: Int], complaint: String?) {
        let current = "\(store)/permanent/\(id)/current"
        func target() -> String? { try? FileManager.default.destinationOfSymbolicLink(atPath: current) }
        guard let name = target() else { return ([id: 0], nil) }
        let tree = try? Tree("\(store)/permanent/\(id)/\(name)")
        guard let tree, let version = sites.version(of: tree, id) else {
            if target() == name { return ([:], "half of \(id) \(name): \(tree?.files ?? [])") }
            return ([:], tree.flatMap { mixture(in: $0, id, name) })
        }
        guard name.hasPrefix("@\(version)-") else { return ([:], "\(id) \(name) is version \(version)") }
        return ([id: version], nil)
    }

    /// All files of a tree are of the version in its name.
    private func mixture(in tree: Tree, _ id: String, _ name: String) -> String? {
        let whole = sites.trees[id]?.enumerated().first { name.hasPrefix("@\($0.offset + 1)-") }?.element
        let foreign = tree.entries.filter { whole?.entries[$0.key] != $0.value }
        return foreign.isEmpty ? nil : "\(id) \(name) holds \(foreign.keys.sorted()) of something else"
    }
}
