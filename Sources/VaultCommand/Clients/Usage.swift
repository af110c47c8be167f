import ArgumentParser
import AssetVault
import VaultAuthoring
import VaultErrors

struct Usage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "usage",
        abstract: "Show what a store takes on the disk, and what for.",
        discussion: """
            Of each pack it says its size, sealed and opened, its tags, which processes have it in access, whether it may be removed \
            when disk space is needed, its preservation priority and when it was read last. The initial install, what is prefetched \
            and what is in access are held against --limits; the exit code is 78 where one is exceeded.

            EXAMPLE
              assetvault usage --store ~/.game --limits odr-2015
            """)

    @OptionGroup var store: StoreOptions
    @OptionGroup var limits: SizeLimitOption

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let limits = try limits.limits()
        let vaultStore = VaultStore(try store.existingOrEmptyLayout())
        for file in try vaultStore.damagedFiles() { Console.warn(ofDamaged: file) }
        let report = UsageReport(usage: try await vaultStore.usage(), limits: limits ?? SizeLimits())
        report.answer(asJSON: json)
        if !json, report.usage.packs.isEmpty { Console.note("no pack was staged in \(store.store) yet") }
        if let excess = report.excesses.first {
            throw VaultError(
                .limit, "\(excess.name): \(excess.size) bytes, and \(excess.limit) are the limit",
                at: store.store, remedy: excess.remedy)
        }
    }
}
