import ArgumentParser
import AssetVault
import SealedPack
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultTransport

struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Download, verify and stage the packs of a site.",
        discussion: """
            Trust is refreshed first; the store pins the root of its first --trust. Without IDs, essential and \
            prefetch packs are fetched. Without --keys packs stop in shared storage, verified and sealed.

            EXAMPLE
              assetvault fetch https://cdn.example.com/game --store ~/.game --trust trusted-root.json --keys env:GAME_KEY
            """)

    @Argument(help: ArgumentHelp("The site: https, http or file URL, or a folder.", valueName: "url"))
    var url: String

    @Argument(help: ArgumentHelp("The packs to fetch.", valueName: "id"))
    var ids: [String] = []

    @OptionGroup var store: StoreOptions

    @Option(help: ArgumentHelp("The site's root file; needed the first time only.", valueName: "root.json"))
    var trust: String?

    @OptionGroup var keys: KeyOptions

    @OptionGroup var connection: TransportOptions

    @Flag(help: "Fetch every pack.")
    var all = false

    @Flag(help: "Keep packs sealed in permanent storage; their files are read in place.")
    var sealed = false

    @Flag(help: "Print what the store holds afterwards as JSON, as 'status' does.")
    var json = false

    func validate() throws {
        if all, !ids.isEmpty { throw ValidationError("--all and IDs exclude each other") }
    }

    func run() async throws {
        let selection: PackSelection =
            try all
            ? .all : ids.isEmpty ? .automatic : .only(ids.map { id throws(VaultError) in try PackID(id) })
        let transport = try connection.transport()
        var configuration = VaultConfiguration(
            site: try SiteLocation(url), store: store.layout, keys: try keys.provider(), transport: transport)
        configuration.form = sealed ? .sealed : .opened
        if let trust {
            configuration.trustedRoot = try DurableFile.read(
                FilePath(trust), limit: MetadataRole.root.sizeLimit)
        }
        let progress = FetchProgress()
        let outcome: Result<Void, VaultError>
        do throws(VaultError) {
            outcome = .success(
                try await VaultClient(configuration).fetch(selection, now: .now) { progress.show($0) })
        } catch {
            outcome = .failure(error)
        }
        progress.finish()
        if json { try await StatusReport(of: store.layout).answer() }
        try outcome.get()
    }
}
