import ArgumentParser
import SystemPackage
import VaultAuthoring
import VaultBase
import VaultCrypto

struct KeysRekey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Replace the keys of the vault or of an audience, in all channels.",
        discussion: """
            Puts a new key into the audience's file, keeps the old one in keys/replaced/ID.jwks, and seals \
            every listed pack for both: metadata alone change. Give the new key to the audience, then \
            --finish: packs are no longer sealed for the old key, and it is retired. Its file stays until \
            'keys remove'. Interrupted at any point, run the same command again.

            --finish says what the old key still opens, by channel, pack and version. Someone who kept the \
            old key and earlier metadata still reads packs with the same content keys, and later versions of \
            them.

            EXAMPLE
              assetvault keys rekey my-game --audience press
              assetvault keys rekey my-game --audience press --finish
            """)

    @OptionGroup var options: VaultKeyOptions
    @OptionGroup var audience: AudienceOption

    @Flag(help: "Take the old keys out of use.")
    var finish = false

    @Flag(help: "With --finish: report, and change nothing.")
    var dryRun = false

    @Flag(help: "Print a report as JSON.")
    var json = false

    func validate() throws {
        if dryRun, !finish {
            throw ValidationError("--dry-run works only with --finish")
        }
    }

    func run() async throws {
        var request = try options.request()
        request.isDryRun = dryRun
        let change = KeyReplacement(request)
        let vault = try options.folder()
        let report =
            try await finish
            ? change.finish(audience.name, in: vault)
            : change.begin(audience.name, in: vault)
        report.answerWithAdvice(asJSON: json, isDryRun: dryRun)
        if !finish, !json {
            Console.note("give the new key to those who may continue to read, then run this with --finish")
        }
    }
}

struct KeysRetire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Never seal for a key again.",
        discussion: """
            Takes the key out of the slots of every channel, and out of the file of its audience, which must \
            have another key. The signed metadata remember its ID: from then on 'publish' refuses the key \
            (exit code 64), on every machine. The key stays in keys/replaced/ID.jwks until 'keys remove'. \
            Says what it still opens, as 'keys rekey --finish' does.

            EXAMPLE
              assetvault keys retire my-game 9ZqJ4mX0T6uYc1n2Vw3dQA
            """)

    @OptionGroup var vault: VaultArgument

    @Argument(help: ArgumentHelp("The key, as 'keys list' names it.", valueName: "key-id"))
    var keyID: String

    @OptionGroup var options: RelistingOptions

    func run() async throws {
        let report = try await KeyReplacement(options.request()).retire(
            [KeyID(keyID)], in: vault.folder(options.keys.passphrase))
        report.answerWithAdvice(asJSON: options.json, isDryRun: options.dryRun)
    }
}

struct KeysRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove the file of a retired key.",
        discussion: """
            Refused (exit code 64) while only retired keys open a version that any channel or a team lists, \
            or that could be restored. Upload what 'keys rekey --finish' or 'keys retire' wrote before you \
            remove the key.

            EXAMPLE
              assetvault keys remove my-game 9ZqJ4mX0T6uYc1n2Vw3dQA
            """)

    @OptionGroup var options: VaultKeyOptions

    @Argument(help: ArgumentHelp("The key, as 'keys list' names it.", valueName: "key-id"))
    var keyID: String

    func run() async throws {
        let file = try await KeyReplacement(options.request()).remove(KeyID(keyID), in: options.folder())
        Console.note("removed \(file)")
    }
}

extension KeyChangeReport: Report {
    var columns: [Column<Self>] {
        [
            .texts("newKeys", "the new key: %") { $0.new?.ids }, .text("keyFile", " in %") { $0.new?.file },
            .table("rekeyed", PublicationReport.Rekeyed.columns) { $0.rekeyed },
            .lines { PublicationReport.Rekeyed.lines(of: $0.rekeyed, for: "the new key") },
            .table("exposures", KeyExposure.columns) { $0.exposures },
            .texts("replaced", "sealed for these, too, until they are retired: %") { $0.replaced },
            .texts("written") { $0.written }, .texts("toWrite") { $0.toWrite },
            .texts("warnings") { $0.warnings.map(\.worded) },
        ]
    }

    func answerWithAdvice(asJSON isJSON: Bool, isDryRun: Bool) {
        Console.warn(of: warnings)
        answer(asJSON: isJSON)
        if isJSON { return }
        isDryRun ? Console.wroteNothing(but: toWrite) : Console.wrote(written)
    }
}

extension KeyExposure {
    static var columns: [Column<Self>] {
        [
            .text("key") { $0.key }, .table("packs", Pack.columns) { $0.packs },
            .lines { exposure in
                [
                    (.listed, "the key \(exposure.key) still opens"),
                    (.earlier, "the key \(exposure.key) opens with earlier metadata"),
                    (.none, "with all metadata that is kept, the key \(exposure.key) can't open"),
                ]
                .compactMap { (access: KeyExposure.Access, words: String) in
                    let packs = exposure.packs(access)
                    guard !packs.isEmpty else { return nil }
                    let names = packs.map { "\($0.name ?? $0.id) version \($0.version) in \($0.channel)" }
                    return "\(words): \(names.listed(upTo: 12))"
                }
            },
        ]
    }
}

extension KeyExposure.Pack {
    fileprivate static var columns: [Column<Self>] {
        [
            .text("channel") { $0.channel }, .text("id") { $0.id }, .text("name") { $0.name },
            .number("version") { $0.version }, .text("team") { $0.team },
            .text("access") { $0.access.rawValue },
        ]
    }
}
