import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultHTTP
import VaultSite
import VaultTransport

struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show and change the vault keys that packs are sealed for.",
        discussion: """
            A vault key opens packs; which keys open which packs is signed metadata, so that keys change without a download. An audience \
            is a name for those who have certain keys ("audiences" in vault.json); packs without "for" are for the vault's own keys, in \
            keys/vault.jwks. No command prints a key, but 'keys export' writes one.

            EXAMPLE
              assetvault keys list my-game
              assetvault keys rekey my-game --audience press
            """,
        subcommands: [
            KeysList.self, KeysAdd.self, KeysRekey.self, KeysReseal.self, KeysRetire.self, KeysRemove.self,
            KeysExport.self, KeysCheck.self,
        ])
}

/// The vault whose keys are shown or changed.
struct VaultKeyOptions: ParsableArguments {
    @OptionGroup var vault: VaultArgument
    @OptionGroup var host: HostOptions

    /// The request of an author who gives no keys.
    func request() throws(VaultError) -> AuthorRequest {
        var request = AuthorRequest(keys: nil, now: .now)
        request.host = try host.site()
        return request
    }
}

struct AudienceOption: ParsableArguments {
    @Option(
        name: .customLong("audience"),
        help: ArgumentHelp("Whose keys; without it the vault's own.", valueName: "name"))
    var name: String?
}

struct KeysList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys of a vault: for whom, since when, and what they open.",
        discussion: """
            Reads the vault's files and the published metadata; prints IDs, never keys. 'current' keys are those that packs are sealed for; \
            'replaced' ones, too, until 'keys rekey --finish'; 'retired' ones never again. The file of an 'unused' key is here, and no \
            audience has it; an 'absent' one has slots in listed packs, and is not here. The time is that of the first kept publication \
            with a slot for the key.

            EXAMPLE
              assetvault keys list my-game
            """)

    @OptionGroup var options: VaultKeyOptions
    @OptionGroup var passphrase: PassphraseOption

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        try await KeyListing(of: options.vault.folder(passphrase), options.request()).answer(asJSON: json)
    }
}

extension KeyListing: Report {
    var columns: [Column<Self>] { [.table("keys", Self.keyColumns, isAligned: true) { $0.keys }] }

    private static var keyColumns: [Column<Key>] {
        [
            .text("id", "%") { $0.id }, .text("state", "%") { $0.state.rawValue },
            .flag("own") { $0.isOwn }, .texts("audiences") { $0.audiences },
            .words { $0.owners }, .text("since", "since %") { $0.since },
            .words { $0.opened }, .table("opens", channelColumns) { $0.opens },
        ]
    }

    private static var channelColumns: [Column<Channels>] {
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

struct KeysAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Make one more key for the vault or an audience.",
        discussion: """
            The key is added to the audience's file, which stays encrypted if it is. For an audience that vault.json does not declare, \
            keys/NAME.jwks is made and declared, encrypted with --passphrase. Prints the key's ID. The next 'publish' seals for the \
            key, too.

            EXAMPLE
              assetvault keys add my-game --audience press
            """)

    @OptionGroup var vault: VaultArgument
    @OptionGroup var audience: AudienceOption
    @OptionGroup var passphrase: PassphraseOption

    func run() async throws {
        let id = try await KeyReplacement.add(to: audience.name, in: vault.folder(passphrase))
        Console.answer(id.description)
        Console.note("'publish' seals for it from now on")
    }
}

struct KeysExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the content key of one pack, for who may read this pack alone.",
        discussion: """
            The key opens the pack, all its versions with the same content key, and the other packs of its resource tree, which share \
            it. It unwraps nothing else. The file is a JWK Set with mode 0600, for --keys; with -o - it goes to standard output.

            EXAMPLE
              assetvault keys export my-game --pack levels/one -o levels-one.jwks
            """)

    @OptionGroup var options: VaultKeyOptions
    @OptionGroup var keys: KeyOptions

    @Option(help: ArgumentHelp("The pack.", valueName: "id"))
    var pack: String

    @Option(
        name: [.short, .customLong("output")],
        help: ArgumentHelp("The file to make; - for standard output.", valueName: "file"), completion: .file()
    )
    var output: String

    func run() async throws {
        let ring = try await ContentKeyExport.key(
            of: PackID(pack), in: options.vault.folder(keys.passphrase), keys.request(at: options.host))
        // The reader of the pack does not know the vault's passphrase.
        if output == "-" {
            try VaultKeyFile.write(ring, into: StandardStreams.output())
        } else {
            try VaultKeyFile.write(ring, to: FilePath(output))
        }
        for id in ring.ids { Console.note("wrote the content key \(id)") }
    }
}

struct KeysCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a key source: which keys it gives, and which packs of a site they open.",
        discussion: """
            SPEC is what --keys takes. With --site each slot is unwrapped, so that a wrong key with a right ID is noticed. Exits with 77 \
            if a key can't be read, or none of the keys opens a pack of the site.

            EXAMPLE
              assetvault keys check env:GAME_KEY --site https://cdn.example.com/game --trust trusted-root.json
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
            keys.append(
                Key(
                    id: key.id, kind: "vault key", opened: opened?.map(\.id.description),
                    wrong: (named ?? []).map(\.id.description).filter {
                        !(opened ?? []).map(\.id.description).contains($0)
                    }))
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
                    .texts("wrong", "is another key than that of %") { $0.wrong },
                ]
            ) { $0.keys }
        ]
    }
}
