import ArgumentParser
import VaultAuthoring
import VaultBase

struct KeysList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys of a vault: for whom, since when, and what they open.",
        discussion: """
            Reads the vault's files and the published metadata; prints IDs, never keys. Packs are sealed for \
            'current' keys, for 'replaced' ones until 'keys rekey --finish', and never again for 'retired' ones. \
            The file of an 'unused' key is here, but no audience uses it. Listed packs have slots for an \
            'absent' key, but its file is not here; a warning names each key file that can't be read. The time \
            is that of the first kept publication with a slot for the key.

            EXAMPLE
              assetvault keys list my-game
            """)

    @OptionGroup var options: VaultKeyOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let listing = try await KeyListing(of: options.folder(), options.request())
        Console.warn(of: listing.warnings)
        listing.answer(asJSON: json)
    }
}

extension KeyListing: Report {
    var columns: [Column<Self>] {
        [
            .table("keys", Self.keyColumns, isAligned: true) { $0.keys },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    private static var keyColumns: [Column<Key>] {
        [
            .text("id", "%") { $0.id }, .text("state", "%") { $0.state.rawValue },
            .flag("own") { $0.isOwn }, .texts("audiences") { $0.audiences },
            .words { $0.owners }, .text("since", "since %") { $0.since },
            .words { $0.opened }, .table("opens", channelColumns) { $0.opens },
        ]
    }

    private static var channelColumns: [Column<ChannelPacks>] {
        [
            .text("channel") { $0.channel }, .texts("packs") { $0.packs }, .number("total") { $0.total },
        ]
    }
}

extension KeyListing.Key {
    fileprivate var owners: String {
        let names = (isOwn ? ["the vault"] : []) + audiences
        return names.isEmpty ? "" : "for \(names.joined(separator: ", "))"
    }

    fileprivate var opened: String {
        opens.map { "\($0.channel): \($0.packs.count) of \($0.total.counting("pack"))" }.joined(
            separator: ", ")
    }
}
