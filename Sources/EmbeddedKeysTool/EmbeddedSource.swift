import SystemPackage
import VaultBase
import VaultCrypto
import VaultFileSystem

/// The Swift source with the shares of keys.
struct EmbeddedSource {
    let path: FilePath

    /// Writes it with fresh masks. With the same keys as before it stays, so that nothing is compiled again.
    func update(with keys: DeclaredKeys) throws(VaultError) {
        let old = try FileSystem.exists(path) ? DurableFile.read(path, limit: 1 << 28) : []
        guard try source(of: keys, masks: masks(in: old)) != old else { return }
        let new = try source(of: keys, masks: [:])
        try CachedFile.write(new.span, to: path, permissions: 0o600)
    }

    private func source(of keys: DeclaredKeys, masks: [String: [UInt8]]) throws(VaultError) -> [UInt8] {
        var lines = [
            "// Made by the plugin EmbeddedKeys.", "import AssetVault", "",
            "/// The keys of the environment '\(keys.environment.escapingControls)'.", "enum EmbeddedKeys {",
        ]
        for index in keys.names.indices {
            let name = keys.names[index]
            let text = try keys.text(at: index)
            var mask = masks[name] ?? []
            if mask.count != text.count { mask = try SecureRandom.bytes(text.count) }
            let masked = text.withBytes { bytes in mask.indices.map { bytes[$0] ^ mask[$0] } }
            let shares = [mask, masked].map { "\"\(Base64URL.encode($0.span))\"" }
            lines.append(
                "    static let `\(name)` = EmbeddedKeyProvider(\"\(name)\", \(shares.joined(separator: ", ")))"
            )
        }
        return Array((lines + ["}", ""]).joined(separator: "\n").utf8)
    }

    /// The masks of an earlier source, by the names of the keys.
    private func masks(in source: [UInt8]) -> [String: [UInt8]] {
        var masks: [String: [UInt8]] = [:]
        for line in String(decoding: source, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "\"")
            guard parts.count == 7 else { continue }
            masks[String(parts[1])] = Base64URL.decode(Array(parts[3].utf8).span)
        }
        return masks
    }
}
