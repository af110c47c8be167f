import SealedPack
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultSite

/// What a vault's own site lists, however old it is, by declared IDs. Nothing before the first publication, and for a team,
/// which has no root.
struct PublishedVersions {
    private var packs: [PackID: PackManifest] = [:]
    /// Nil where names are public.
    private var names: PackNames?
    /// Nil where nothing is published.
    private(set) var areOpaque: Bool?
    /// Whether names are opaque, and no key opens their table.
    private(set) var areUnknown = false

    /// Where they don't matter.
    static let notAskedFor = PublishedVersions()

    private init() {}

    /// - Parameter host: where they are published; nil reads the vault's own site.
    init(
        of vault: VaultFolder, at host: Site?, in channel: Channel, keys: any KeyProvider
    ) async throws(VaultError) {
        guard try FileSystem.exists(vault.trustedRoot) else { return }
        let root = try vault.pinnedRoot()
        let tree: TargetTree
        do throws(VaultError) {
            tree = try await TargetTree.verifying(
                host ?? MetadataFolder(vault.metadata), pinnedRoot: root, now: .earliest)
        } catch {
            guard host == nil, error.category == .unavailable else { throw error }
            return
        }
        guard tree.chain.channels.contains(channel) else { return }
        let listed = try PublishedPacks(of: tree, in: channel).packs.map { ($0.pack.id, $0.pack) }
        packs = Dictionary(listed) { first, _ in first }
        let table = packs[try PackID(PackNames.packID)]
        if !packs.isEmpty { areOpaque = table != nil }
        guard let table else { return }
        do throws(VaultError) {
            let key = try await keys.contentKey(of: table)
            var hosted: HostedPack?
            if let host {
                hosted = try await HostedPack(table, at: host, in: tree.chain, scratch: vault.path)
            }
            let files = PublishedPackFiles(targets: vault.targets, output: vault.targets, host: nil)
            let file = if let hosted { hosted.pack } else { try await files.file(of: table) }
            names = try await PublishedNames(
                in: table, from: OpenPack(file, key: key), at: hosted
            ).names
        } catch {
            guard error.category == .key || error.category == .missing else { throw error }
            areUnknown = true
        }
    }

    func version(of id: PackID) -> PackManifest? {
        guard let names else { return packs[id] }
        return names.listedID(of: id).flatMap { packs[$0] }
    }
}
