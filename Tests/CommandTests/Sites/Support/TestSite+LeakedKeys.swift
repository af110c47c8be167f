import Foundation
import StrictJSON
import Testing

/// What a former holder of a key can do with the files of a host.
extension TestSite {
    /// The hosted packs that a key opens by any slot in any metadata of the site. A slot opens its content key, and so each pack that is
    /// sealed with it.
    func packsOpened(by key: String) async throws -> Set<String> {
        var slots: [String: [String: JSONValue]] = [:]
        var targets: [String: JSONValue] = [:]
        for name in try Tree("\(site)/metadata").files {
            let metadata: JSONObject = try folder.json("vault/site/metadata/\(name)")
            for (path, target) in metadata["signed"]?["targets"]?.members ?? [:] {
                let digest = try #require(target["hashes", "sha256"]?.text)
                var parts = "targets/\(path)".split(separator: "/").map(String.init)
                parts[parts.count - 1] = "\(digest).\(parts[parts.count - 1])"
                targets[parts.joined(separator: "/")] = target
                let pack = try #require(target["custom", "assetvault"])
                for slot in pack["slots"]?.elements ?? [] {
                    slots[pack["contentKeyID"]?.text ?? "", default: [:]][slot["wrapped"]?.text ?? ""] = slot
                }
            }
        }
        var opened: Set<String> = []
        for (number, (path, target)) in targets.enumerated()
        where FileManager.default.fileExists(atPath: "\(site)/\(path)") {
            var manifest = try #require(target.members)
            var custom = try #require(manifest["custom"]?.members)
            var pack = try #require(custom["assetvault"]?.members)
            pack["slots"] = .array(Array((slots[pack["contentKeyID"]?.text ?? ""] ?? [:]).values))
            custom["assetvault"] = .object(pack)
            manifest["custom"] = .object(custom)
            let work = "leaked-\(UUID().uuidString)-\(number)"
            try folder.write("\(work).json", JSONValue.object(manifest).compact())
            let result = try await Command.run(
                "open", "\(site)/\(path)", "-o", folder[work], "--manifest", folder["\(work).json"], "--keys",
                "file:\(key)")
            try #require([0, 77].contains(result.exitCode), "\(result.errorText)")
            if result.exitCode == 0 { opened.insert(path) }
        }
        return opened
    }
}
