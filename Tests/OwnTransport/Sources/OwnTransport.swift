import AssetVault
import Foundation

/// Reads `http://site.test/` from a folder, as a transport on another network library would read it from a host.
struct OwnTransport: Transport {
    let folder: String

    func get(_ request: TransportRequest) async throws(VaultError) -> TransportResponse {
        let path = request.location.description.dropFirst("http://site.test".count)
        guard let bytes = try? Data(contentsOf: URL(filePath: folder + path)) else { return .absent }
        let chunks = AsyncStream<[UInt8]> { stream in
            for start in stride(from: 0, to: bytes.count, by: 10_000) {
                stream.yield(Array(bytes[start..<min(start + 10_000, bytes.count)]))
            }
            stream.finish()
        }
        // Without ranges: the whole file, which clients accept in place of a part.
        return .whole(try TransportBody(chunks, for: request, length: UInt64(bytes.count)))
    }
}

/// own-transport SITE ROOT KEYS STORE PACK FILE: prints the file twice, fetched from the folder SITE and by the transport above;
/// then the category of the error for a URL without a transport.
@main struct Program {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let (site, store) = (arguments[1], arguments[4])
        func vault(_ location: String, _ name: String, _ transport: (any Transport)?) throws -> Vault {
            var configuration = VaultConfiguration(
                site: try SiteLocation(location), store: StoreLayout(root: FilePath("\(store)/\(name)")),
                trustedRoot: Array(try Data(contentsOf: URL(filePath: arguments[2]))),
                keys: FileKeyProvider(path: FilePath(arguments[3])))
            if let transport { configuration.transport = transport }
            return try Vault(configuration)
        }
        for vault in [
            try vault(site, "folder", nil), try vault("http://site.test", "own", OwnTransport(folder: site)),
        ] {
            try await vault.update().requireKeys()
            print(String(decoding: try await vault[arguments[5]].bytes(arguments[6]), as: UTF8.self))
        }
        let withoutTransport = try vault("http://site.test", "none", nil)
        do throws(VaultError) {
            _ = try await withoutTransport.update()
        } catch {
            print(error.category, error.remedy)
        }
    }
}
