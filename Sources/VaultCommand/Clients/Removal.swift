import ArgumentParser
import AssetVault
import SealedPack
import UpdateFramework
import VaultBase

struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove packs from a store.",
        discussion: """
            They are downloaded again only when 'fetch' names them, or with --all. A version that a program \
            has in access or reads is removed when that ends.

            EXAMPLE
              assetvault remove levels/one --store ~/.game
            """)

    @Argument(help: ArgumentHelp("The packs to remove.", valueName: "id"), completion: .packsOfStore)
    var ids: [String]

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print JSON: what was removed, and what the store holds afterwards, as 'status' does.")
    var json = false

    func run() async throws {
        let packs = try store.packs(ids)
        let layout = try store.existingOrEmptyLayout()
        let vaultStore = VaultStore(layout)
        var lastError: VaultError?
        var removed: [PackID] = []
        for id in packs {
            do throws(VaultError) {
                try await store.suggestingNames(for: [id.description]) { () throws(VaultError) in
                    try await vaultStore.remove(id)
                }
                removed.append(id)
                // A damaged state does not make a removal fail.
                let isHeld = (try? await vaultStore.status(of: id))?.state == .removing
                Console.note(
                    isHeld ? "removing  \(id): it is removed once its access has ended" : "removed  \(id)")
            } catch {
                if let lastError { Console.error(lastError) }
                lastError = error
            }
        }
        if json {
            try await StatusReport(of: layout, changed: ("removed", removed)).answer(asJSON: true)
        }
        if let lastError { throw lastError }
    }
}

struct Preserve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preserve",
        abstract: "Set which packs stay when disk space is needed, and how long.",
        discussion: """
            A download that needs disk space removes purgeable packs that are not in use, those with the \
            lowest preservation priority first. --keep and --purgeable set whether the named packs are among \
            these. --priority sets the priority of tags in this store, instead of the one that the site \
            lists; of a pack with several tags the highest counts. With --tag alone the priority of each tag \
            is printed.

            EXAMPLE
              assetvault preserve levels/one --purgeable --store ~/.game
              assetvault preserve levels/two --keep --store ~/.game
              assetvault preserve --tag level1 --tag hub --priority 0.9 --store ~/.game
            """)

    private enum Fate: EnumerableFlag {
        case keep, purgeable

        static func help(for fate: Fate) -> ArgumentHelp? {
            switch fate {
            case .keep: "Keep the packs until they are removed by name, also on-demand packs."
            case .purgeable: "Allow the packs to be removed when disk space is needed."
            }
        }
    }

    @Argument(
        help: ArgumentHelp("The packs, with --keep or --purgeable.", valueName: "id"),
        completion: .packsOfStore)
    var ids: [String] = []

    @Flag(exclusivity: .exclusive)
    private var fate: Fate?

    @Option(
        name: .customLong("tag"), help: ArgumentHelp("A tag to set or print; repeatable.", valueName: "tag"))
    var tags: [String] = []

    @Option(help: ArgumentHelp("From 0, removed first, to 1.", valueName: "0..1"))
    var priority: Double?

    @OptionGroup var store: StoreOptions

    func validate() throws {
        guard ids.isEmpty != tags.isEmpty else {
            throw ValidationError("name either packs or tags with --tag")
        }
        if ids.isEmpty, fate != nil { throw ValidationError("--keep and --purgeable need the IDs of packs") }
        if tags.isEmpty, fate == nil {
            throw ValidationError("packs need --keep or --purgeable; a priority is set for tags")
        }
        if tags.isEmpty, priority != nil { throw ValidationError("--priority needs --tag") }
    }

    func run() async throws {
        if let fate { try await set(fate) } else { try await setPriority() }
    }

    private func set(_ fate: Fate) async throws(VaultError) {
        let vaultStore = VaultStore(try store.existingOrEmptyLayout())
        for text in ids {
            try await store.suggestingNames(for: [text]) { () throws(VaultError) in
                let id = try PackID(text)
                switch fate {
                case .keep: try await vaultStore.keep(id)
                case .purgeable: try await vaultStore.declarePurgeable(id)
                }
            }
            Console.note("\(fate == .keep ? "kept" : "purgeable")  \(text)")
        }
    }

    private func setPriority() async throws(VaultError) {
        let store = VaultStore(try store.existingLayout())
        for file in try store.damagedFiles() { Console.warn(ofDamaged: file) }
        if let priority {
            try await store.setPreservationPriority(priority, forTags: Set(tags))
            return explain(try await store.preservationPriorities())
        }
        for tag in tags { Console.answer("\(try await store.preservationPriority(forTag: tag))  \(tag)") }
    }

    /// Warns of settings that have an effect, but probably not the intended one.
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
                "warning: all tags have the priority 1: packs are purged by their last use alone")
        }
    }
}
