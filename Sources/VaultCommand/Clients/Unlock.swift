import ArgumentParser
import AssetVault
import SealedPack
import VaultBase

struct Unlock: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock",
        abstract: "Open the packs that wait for their key, without any network.",
        discussion: """
            Packs that were downloaded before their release wait, verified and sealed, in shared storage; \
            they need only their key. Without IDs, all waiting packs are opened. --wait asks for the key \
            until it is available.

            EXAMPLE
              assetvault unlock levels/two --store ~/.game --keys env:GAME_KEY
            """)

    @Argument(help: ArgumentHelp("The packs to open.", valueName: "id"), completion: .packsOfStore)
    var ids: [String] = []

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions
    @OptionGroup var form: FormOptions

    @Option(
        help: ArgumentHelp(
            "The site's root file; needed where only a downloader of another user was given it.",
            valueName: "root.json"))
    var trust: String?

    @OptionGroup var channel: ChannelOption
    @OptionGroup var app: AppVersionOption

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print JSON: what was loaded, and what the store holds afterwards, as 'status' does.")
    var json = false

    @Option(help: ArgumentHelp("How long to wait for the key.", valueName: "seconds"))
    var wait: Double = 0

    func validate() throws {
        if !(wait >= 0 && wait < 1e9) {
            throw ValidationError("--wait takes seconds, from 0 to below 1000000000")
        }
    }

    func run() async throws {
        let named = try ids.isEmpty ? nil : store.packs(ids)
        guard let keys = try keys.uncachedProvider() else { throw KeyOptions.missing }
        let store = try store.existingLayout()
        let root = try TrustedRootOption.root(named: trust)?.bytes
        let (channel, version) = (try channel.channel, try app.version)
        let shown = FetchProgress()
        let result = await outcome { () throws(VaultError) in
            try await self.store.suggestingNames(for: ids) { () throws(VaultError) in
                try await shown.whileShowing { show throws(VaultError) in
                    try await VaultStore(
                        store, trustedRoot: root, channel: channel, appVersion: version
                    ).unlock(
                        named, with: keys, as: form.form, patience: .seconds(wait), onUpdate: show)
                }
            }
        }
        if json {
            let loaded = (try? result.get()) ?? shown.loaded
            try await StatusReport(of: store, changed: ("loaded", loaded)).answer(asJSON: true)
        }
        let loaded = try result.get()
        for failure in shown.failures { Console.note("warning: \(failure.worded)") }
        if loaded.isEmpty { Console.note("no pack waits for its key") }
    }
}
