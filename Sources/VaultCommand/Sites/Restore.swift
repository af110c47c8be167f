import ArgumentParser
import SealedPack
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultErrors
import VaultKeys

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "List an earlier version of a pack again.",
        discussion: """
            The version that the site had before is listed again, under newer metadata, without being sealed again: \
            clients that have it download nothing. It stays live, whatever the source becomes, until \
            --latest lists the source again, or 'publish --pack' gives the pack another one. A new version gets a \
            number above every one that was given. A version that was signed only by keys which a later root removed is \
            refused, since they may have been stolen: --accept-removed-keys accepts it. --against restores from what the host has, \
            without site/, and writes only new metadata there.

            EXAMPLE
              assetvault restore my-game levels/one --version 3
            """)

    @Argument(help: ArgumentHelp("The vault.", valueName: "vault"), completion: .directory)
    var vault: String

    @Argument(help: ArgumentHelp("The pack.", valueName: "id"))
    var id: String

    @Option(help: ArgumentHelp("The version to put live.", valueName: "n"))
    var version: UInt64?

    @Flag(help: "List the pack's source as it is again.")
    var latest = false

    @Flag(help: "Accept a version that only keys signed which the root names no more.")
    var acceptRemovedKeys = false

    @OptionGroup var keys: KeyOptions

    @OptionGroup var signing: SigningOptions

    @OptionGroup var host: HostOptions

    @Flag(help: "Print a report as JSON.")
    var json = false

    func run() async throws {
        guard (version == nil) == latest else {
            throw VaultError(
                .usage, "one of --version and --latest is needed", at: "restore",
                remedy: "write --version N for an earlier version, or --latest for the source")
        }
        let folder = VaultFolder(FilePath(vault))
        var order = PublicationRequest(
            keys: try keys.cachedProvider(), now: .now)
        order.host = try host.site()
        order.passphrase = try signing.passphrase()
        order.acceptsRemovedKeys = acceptRemovedKeys
        let pack = try PackID(id)
        let report: PublicationReport
        do throws(VaultError) {
            report = try await Publication.restore(pack, to: version, in: folder, order)
        } catch {
            let declared = (try? VaultSettings(reading: folder.settings).packs.map(\.id.description)) ?? []
            throw declared.contains(id) ? error : error.suggesting(id, among: declared)
        }
        report.answerWithAdvice(asJSON: json)
    }
}
