import ArgumentParser
import AssetVault
import SealedPack
import VaultErrors

struct Purgeable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purgeable",
        abstract: "Allow packs to be removed when disk space is needed.",
        discussion: """
            Packs stay until they are removed, but for these: when a download or an opening needs disk space, they are removed, unless \
            somebody reads them. 'keep' takes it back.

            EXAMPLE
              assetvault purgeable levels/one --store ~/.game
            """)

    @OptionGroup var packs: NamedPacks

    func run() async throws {
        try await packs.each("purgeable") { store, id throws(VaultError) in
            try await store.declarePurgeable(id)
        }
    }
}

struct Keep: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keep",
        abstract: "Keep packs that were purgeable.",
        discussion: """
            EXAMPLE
              assetvault keep levels/one --store ~/.game
            """)

    @OptionGroup var packs: NamedPacks

    func run() async throws {
        try await packs.each("kept") { store, id throws(VaultError) in try await store.keep(id) }
    }
}
