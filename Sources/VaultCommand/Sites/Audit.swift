import ArgumentParser
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultAudit
import VaultErrors
import VaultFileSystem
import VaultSite
import VaultTransport

struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Verify a site or a pack: every hosted byte without a key, every file with one.",
        discussion: """
            A site is a URL or a folder that holds metadata/; anything else is a pack. All problems are listed; the exit \
            code is that of the worst: 76 when the metadata can't be trusted (then nothing that it lists is read) or have \
            expired (then all is), 65 for damage and for missing files of a folder, 68 when a host can't be reached, 69 when \
            it fails, 72 when it does not have a listed file, 77 for keys. Every root is read, since clients may pin any. Of a folder, \
            everything that the kept metadata lists is verified too: earlier versions that can be restored. A host's files \
            can't be listed, so there it is what the newest metadata lists. Of each pack it also says for which vault keys it \
            is sealed.

            EXAMPLE
              assetvault audit https://cdn.example.com/game --trust trusted-root.json
              assetvault audit my-game/site --keys file:my-game/keys/vault.jwks --json
              assetvault audit level-one.avpack
            """)

    @Argument(
        help: ArgumentHelp(
            "A pack, a site's folder, or its https, http or file URL.", valueName: "pack-or-site"),
        completion: .file())
    var subject: String

    @OptionGroup var manifestOptions: ManifestOptions
    @OptionGroup var keys: KeyOptions

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() async throws {
        let progress = AuditBar()
        let report = try await audit(progress)
        progress.finish()
        report.answer(asJSON: json)
        guard let gravest = report.gravestError else { return }
        for error in report.errors where error != gravest { Console.error(error) }
        throw gravest
    }

    private func audit(_ progress: AuditBar) async throws(VaultError) -> AuditReport {
        let location = try SiteLocation(subject)
        guard try location.isSite else {
            return try await PackAudit(
                of: location.path ?? FilePath(subject), by: try evidence(), keys: try keys.cachedProvider(),
                now: .now
            ).run { progress.show($0) }
        }
        guard manifestOptions.site == nil, manifestOptions.manifest == nil else {
            throw VaultError(
                .usage, "a site has its own manifests", at: subject,
                remedy: "leave --site and --manifest away, or name a pack")
        }
        return await SiteAudit(
            of: Site(location, transport: SchemeTransport()), pinnedRoot: try pinnedRoot(),
            keys: try keys.cachedProvider(), scratch: .temporaryFolder, now: .now
        ).run { progress.show($0) }
    }

    private func evidence() throws(VaultError) -> PackAudit.Evidence {
        switch try manifestOptions.source() {
        case .site(let site, _): return .site(site, pinnedRoot: try pinnedRoot())
        case .file(let path): return .manifest(path)
        case .beside:
            let beside = try LocalPack(path: FilePath(subject)).manifestBeside
            return beside.map { .manifest($0) } ?? .nothing
        }
    }

    private func pinnedRoot() throws(VaultError) -> [UInt8]? {
        try manifestOptions.trust.root()
    }
}

extension SiteLocation {
    /// Whether it is a site, and not a pack: any http or https URL, and a folder that holds `metadata/`.
    fileprivate var isSite: Bool {
        get throws(VaultError) {
            guard let path else { return true }
            guard try FileSystem.status(of: path, followingLinks: true)?.kind == .folder else { return false }
            try path.requireSite()
            return true
        }
    }
}

/// One bar for each step of each pack.
private final class AuditBar {
    private var label = ""
    private var bar: ProgressBar?

    func show(_ progress: AuditProgress) {
        let label = "\(progress.step.rawValue) \(progress.pack)"
        if label != self.label {
            finish()
            bar = ProgressBar(label, total: progress.total)
            self.label = label
        }
        bar?.show(progress.done)
    }

    func finish() { bar?.finish() }
}
