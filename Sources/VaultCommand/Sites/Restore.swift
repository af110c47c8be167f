import ArgumentParser
import SealedPack
import SystemPackage
import VaultAuthoring
import VaultBase
import VaultSite

struct Restore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make an earlier version of a pack, a resource tree or a channel live again.",
        discussion: """
            Publishes earlier versions again, under newer metadata, without sealing them again: clients that \
            have them download nothing. No files are extracted. The next new version gets a number above every earlier one.

            For a pack, --version is the version of the pack. The packs of a resource tree have different \
            versions, so for a tree it is the version of a snapshot: 7 lists all packs of the tree as they \
            were under 7.snapshot.json, which 'publish' names among the written files. --to takes such a \
            number, too, or a day or time (UTC): the last publication by then, or by the end of the day. \
            Snapshots of earlier releases have no time of publication; name them by their version.

            A restored pack or tree stays as it is until --latest publishes the sources again. So does the \
            first channel, which lists the sources. For a pack, 'publish --pack' with another source ends it, \
            too. Another channel stays as it is until the next 'promote'. --dry-run prints what would change. Packs of \
            teams are not restored.

            Versions signed only by keys that a later root removed are refused, because these keys may have \
            been stolen; --accept-removed-keys accepts them. --against restores from what the host has, \
            without site/, and writes only new metadata there; it warns if the host's timestamp has expired.

            EXAMPLE
              assetvault restore my-game levels/one --version 3
              assetvault restore my-game --channel live --to 2026-05-31 --dry-run
            """)

    @OptionGroup var vault: VaultArgument

    @Argument(help: ArgumentHelp("The pack, or the resource tree with all its packs.", valueName: "id"))
    var id: String?

    @Option(
        name: .customLong("channel"), help: ArgumentHelp("All packs that a channel lists.", valueName: "name")
    )
    var channelName: String?

    @Option(help: ArgumentHelp("The version to put live: of a pack, or of a snapshot.", valueName: "n"))
    var version: UInt64?

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp(
            "The state to put live: a day, a time, or a snapshot's version.", valueName: "state"))
    var moment: String?

    @Flag(help: "Publish the current sources again.")
    var latest = false

    @Flag(help: "Accept versions signed only by keys that the root no longer names.")
    var acceptRemovedKeys = false

    @OptionGroup var options: RelistingOptions

    func run() async throws {
        let folder = try vault.folder(options.keys.passphrase)
        var request = try options.request()
        request.acceptsRemovedKeys = acceptRemovedKeys
        let restoration = Restoration(of: try subject(), to: try goal(), request)
        let report: Restoration.Report
        do throws(VaultError) { report = try await restoration.run(in: folder) } catch {
            throw suggesting(error, in: folder)
        }
        switch report {
        case .published(let report): report.answerWithAdvice(asJSON: options.json, isDryRun: options.dryRun)
        case .promoted(var report):
            report.names = await PackNames.known(in: folder, at: request.host, keys: request.keys)
            report.answerWithAdvice(asJSON: options.json, isDryRun: options.dryRun)
        }
    }

    private func subject() throws(VaultError) -> Restoration.Subject {
        switch (id, channelName) {
        case (let id?, nil): return .declared(try PackID(id))
        case (nil, let name?): return .channel(try Channel(named: name))
        default:
            throw VaultError(
                .usage, "one of a pack, a resource tree and --channel is needed", at: "restore",
                remedy: "name what to restore")
        }
    }

    private func goal() throws(VaultError) -> Restoration.Goal {
        switch (version, moment, latest) {
        case (let version?, nil, false) where channelName == nil:
            guard version >= 1 else {
                throw VaultError(
                    .usage, "0 is not a version", at: "--version", remedy: "use a number from 1 on")
            }
            return .version(version)
        case (nil, let moment?, false): return .moment(try SiteMoment(parsing: moment))
        case (nil, nil, true): return .source
        default:
            throw VaultError(
                .usage, "one of --version, --to and --latest is needed, of a channel --to or --latest",
                at: "restore",
                remedy:
                    "write --version N or --to YYYY-MM-DD for what was before, or --latest for the source")
        }
    }

    private func suggesting(_ error: VaultError, in folder: VaultFolder) -> VaultError {
        guard let id, let settings = try? VaultSettings(reading: folder.settings) else { return error }
        let declared = (settings.packs.map(\.id) + settings.resources.map(\.family)).map(\.description)
        return declared.contains(id) ? error : error.suggesting(id, among: declared)
    }
}
