import ArgumentParser
import AssetVault
import VaultErrors

struct Preserve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preserve",
        abstract: "Say how long the packs of some tags stay when disk space is needed.",
        discussion: """
            Packs with a lower priority are removed first; of several tags of a pack the highest counts. It counts in this store, and \
            instead of what the site lists. Without --priority it prints the priority of each tag.

            EXAMPLE
              assetvault preserve level1 hub --priority 0.9 --store ~/.game
            """)

    @Argument(help: ArgumentHelp("The tags.", valueName: "tag"))
    var tags: [String]

    @Option(help: ArgumentHelp("From 0, first to go, to 1.", valueName: "0..1"))
    var priority: Double?

    @OptionGroup var store: StoreOptions

    func run() async throws {
        let store = VaultStore(try store.existingLayout())
        for file in try store.damagedFiles() { Console.warn(ofDamaged: file) }
        if let priority {
            try await store.setPreservationPriority(priority, forTags: Set(tags))
            return explain(try await store.preservationPriorities())
        }
        for tag in tags { Console.answer("\(try await store.preservationPriority(forTag: tag))  \(tag)") }
    }

    /// What was set counts, and may not be what was meant.
    ///
    /// - Parameter known: the priorities of all tags that are known here.
    private func explain(_ known: [String: Double]) {
        guard !known.isEmpty else { return }
        for tag in Set(tags).subtracting(known.keys).sorted() {
            Console.note(
                "no pack that is known here has the tag '\(tag)' yet"
                    + Suggestion.question(for: tag, among: known.keys.sorted()))
        }
        if known.values.allSatisfy({ $0 == 1 }) {
            Console.note(
                "warning: all tags have the priority 1: which packs go first is left to their last use")
        }
    }
}
