import ArgumentParser
import SealedPack
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultSite
import VaultTransport

struct KeysCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a key source: which keys it gives, and which packs of a site they open.",
        discussion: """
            SPEC is what --keys takes. With --site each slot is unwrapped, so that a wrong key with a right \
            ID is noticed. Exits with 77 if a key can't be read, or none of the keys opens a pack of the \
            site.

            EXAMPLE
              assetvault keys check env:GAME_KEY \\
                --site https://cdn.example.com/game --trust trusted-root.json
            """)

    @Argument(help: ArgumentHelp("The source: \(KeySpec.kinds).", valueName: "spec"))
    var spec: String

    @Option(help: ArgumentHelp("The site: a folder, or its https, http or file URL.", valueName: "site"))
    var site: String?

    @OptionGroup var passphrase: PassphraseOption
    @OptionGroup var trust: TrustedRootOption
    @OptionGroup var channel: ChannelOption
    @OptionGroup var connection: TransportOptions
    @OptionGroup var service: KeyServiceOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let ring = try await KeySpec(parsing: spec).provider(
            opening: service.opener(), passphrase: passphrase.source()
        ).allKeys()
        guard !ring.isEmpty else {
            throw VaultError(.key, "the source gives no key", at: "key source", remedy: "see what it holds")
        }
        var packs: PublishedPacks?
        if let site {
            let source = Site(try SiteLocation(site), transport: try connection.transport())
            let tree = try await TargetTree.verifying(source, pinnedRoot: trust.root(), now: .now)
            packs = try PublishedPacks(of: tree, in: channel.channel ?? .live)
        }
        let check = try KeyCheck(of: ring, for: packs?.packs)
        check.answer(asJSON: json)
        guard check.opensSomething else {
            throw VaultError(
                .key, "none of the keys opens a pack that the site lists", at: "key source",
                remedy: "see 'assetvault list' for the IDs of the keys that do")
        }
    }
}

/// What the keys of a source open.
private struct KeyCheck: Report {
    struct Key {
        let id: KeyID
        let kind: String
        /// Nil where no site was named.
        var opened: [String]?
        /// Packs with a slot for its ID that it does not unwrap.
        var wrong: [String] = []
    }

    private let keys: [Key]
    let opensSomething: Bool

    /// - Parameter listed: nil where no site was named.
    init(of ring: KeyRing, for listed: [ListedPack]?) throws(VaultError) {
        var keys: [Key] = []
        let packs = listed?.map(\.pack)
        for key in ring.vaultKeys {
            let named = packs?.filter { $0.slots.contains { $0.keyID == key.id } }
            let opened = named?.filter { $0.slots.contains { $0.isWrapped(under: key) } }
            let openedIDs = Set((opened ?? []).map(\.id))
            keys.append(
                Key(
                    id: key.id, kind: "vault key", opened: opened?.map(\.id.description),
                    wrong: (named ?? []).map(\.id).filter { !openedIDs.contains($0) }.map(\.description)))
        }
        for key in ring.contentKeys {
            let opened = packs?.filter { $0.contentKeyID.bytes == key.contentKeyID }
            keys.append(Key(id: key.id, kind: "content key", opened: opened?.map(\.id.description)))
        }
        self.keys = keys
        opensSomething = keys.contains { $0.opened.map { !$0.isEmpty } ?? true }
    }

    var columns: [Column<Self>] {
        [
            .table(
                "keys",
                [
                    .text("id", "%") { $0.id }, .text("kind", "%") { $0.kind }, .texts("opens") { $0.opened },
                    .words("opens %") { $0.opened.map { $0.isEmpty ? "nothing" : $0.listed(upTo: 6) } },
                    .texts("wrong", "has the right ID but does not open %") { $0.wrong },
                ]
            ) { $0.keys }
        ]
    }
}
