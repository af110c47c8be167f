import FaultServer
import Testing
import VaultAuthoring

@testable import AssetVault

/// A host that fails now and then is asked for metadata again.
@Suite(.timeLimit(.minutes(5))) struct MetadataRetryTests {
    let game: HostedGame

    init() async throws { game = try await HostedGame() }

    private func client(of server: FaultServer) throws -> VaultClient {
        var configuration = try game.configuration()
        configuration.site = try SiteLocation(server.url)
        return try VaultClient(configuration)
    }

    @Test func eachFileIsAskedForAgain() async throws {
        let server = try FaultServer(game.game.place.vault.site.string) {
            $0.earlier == 0 ? .status(503) : .file
        }
        try await client(of: server).refresh()
        let paths = server.exchanges.map(\.request.path)
        #expect(Set(paths).allSatisfy { path in paths.count { $0 == path } == 2 }, "\(paths)")
    }

    /// An app that starts is not held for long.
    @Test func notForEver() async throws {
        let server = try FaultServer(game.game.place.vault.site.string) { _ in .status(500) }
        let client = try client(of: server)
        #expect(await category { try await client.refresh() } == .unavailable)
        #expect(server.exchanges.count == 3)
    }
}
