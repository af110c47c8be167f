import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem
import VaultSite

@testable import AssetVault
@testable import SealedPack

/// A client that changes its channel back: there an older version rests on the file of a newer one.
@Suite(.timeLimit(.minutes(5))) struct SwitchedChannelTests {
    private let world: World
    private let one = PackID.one

    /// `live` lists version 1, which a reader holds and which rests on version 2, of `beta`; loaded is version 3, of `dev`, which rests
    /// on nothing and has the first pieces of the others.
    private let reader: HeldPack
    private let (held, base): (FilePath, FilePath)

    init() async throws {
        world = try await World()
        try world.settings { $0["channels"] = ["dev", "beta", "live"] }
        try await world.publish(ChangedPack.files(1))
        try await Self.promote(in: world, to: "beta")
        try await Self.promote(in: world, to: "live")
        try await world.publish(ChangedPack.files(2))
        try await Self.promote(in: world, to: "beta")

        _ = try await Self.client(of: world, "beta").fetch()
        let client = try Self.client(of: world, "live")
        _ = try await client.fetch()
        reader = try await client.store.held(one)
        held = reader.root
        let name = try #require(try PiecePlaces(beside: held)?.bases.first)
        base = held.removingLastComponent().appending(name)
        #expect(held.lastComponent?.string.hasPrefix("@1-") == true && name.hasPrefix("@2-"))
        try await world.publish(
            ChangedPack.files(1).filter { ["file 0", "file 1", "file 2"].contains($0.key) })
        let last = try Self.client(of: world, "dev")
        _ = try await last.fetch()
        #expect(try await PiecePlaces(beside: last.store.held(one).root) == nil)
    }

    private static func promote(in world: World, to channel: String) async throws {
        let origin = channel == "live" ? "beta" : "dev"
        _ = try await Promotion(
            .all, from: Channel(named: origin), to: Channel(named: channel),
            AuthorRequest(keys: world.place.keys, now: .now)
        ).run(in: world.place.vault)
    }

    private static func client(of world: World, _ channel: String) throws -> VaultClient {
        try world.client {
            $0.channel = try Channel(named: channel)
            $0.form = .sealed
        }
    }

    private func expectSound(at location: SourceLocation = #_sourceLocation) async throws {
        let isSound = try? await PackFile(opening: held, as: nil).check().isSound
        #expect(isSound == true, sourceLocation: location)
        withExtendedLifetime(reader) {}
    }

    @Test func whatAHeldVersionRestsOnStays() async throws {
        try await expectSound()
        let files = try names(in: held.removingLastComponent()).filter { $0.hasSuffix(".avpack") }
        #expect(files.count == 3, "\(files)")
    }

    /// The base is to be live again, and is damaged where the held version does not need it. Its new file has all that the held one
    /// needs, though the loaded version has pieces of it, too.
    @Test func aDamagedBaseThatIsToBeLive() async throws {
        try flipByte(of: base, at: 400_000)
        let client = try Self.client(of: world, "beta")
        _ = try await client.fetch()
        try await client.expect(ChangedPack.files(2), in: one)
        #expect(try await client.store.verify().map(\.finding) == [.sound])
        try await expectSound()
    }
}
