import AssetVault
import SealedPack
import VaultAuthoring
import VaultFileSystem

/// A vault, its site and the stores of its clients, in a folder that is removed at the end.
final class Game: Sendable {
    static let id = "levels/one"
    /// Stands in what is sealed, and must stand nowhere in plain.
    static let secret = Array("the treasure is below the old oak".utf8)

    private let scratch: ScratchFolder
    var place: GamePlace { GamePlace(root: scratch.path.string) }

    init() async throws {
        // Nothing waits for a disk here.
        scratch = try ScratchFolder(in: "/dev/shm")
        try await place.vault.create(now: .now)
    }

    /// As another one was.
    init(_ image: FolderImage) throws {
        scratch = try ScratchFolder(in: "/dev/shm")
        try image.write(to: scratch.path)
        // The sources are declared by whole paths.
        let settings = place.vault.path.appending("vault.json")
        let text = String(decoding: try DurableFile.read(settings, limit: 1 << 20), as: UTF8.self)
        let changed = Array(text.replacing(image.origin.string, with: place.root).utf8)
        try DurableFile.write(changed.span, to: settings, permissions: 0o644, replacing: true)
    }

    func image() throws -> FolderImage { try FolderImage(of: scratch.path) }

    /// Publishes exactly these files as the next version of a pack.
    func publish(_ files: [String: [UInt8]], as id: String = Game.id, _ compression: Compression? = nil)
        async throws
    {
        let source = scratch.path.appending("source of \(id.split(separator: "/").joined(separator: " "))")
        try FileSystem.removeTree(source)
        try FileSystem.createFolders(source, permissions: 0o755)
        for (path, bytes) in files {
            let file = source.pushing(FilePath(path))
            try FileSystem.createFolders(file.removingLastComponent(), permissions: 0o755)
            try OpenFile(creating: file, permissions: 0o644).write(bytes.span, at: 0)
        }
        try await publish(source, as: id, compression)
    }

    /// Publishes a folder.
    func publish(_ source: FilePath, as id: String = Game.id, _ compression: Compression? = nil) async throws
    {
        let id = try PackID(id)
        var order = AuthorRequest(keys: place.keys, now: .now)
        order.compression = compression
        _ = try await Publication.run(
            of: place.vault, order,
            editing: { settings throws(VaultError) in try settings.declare(id, source: source) })
    }

    /// A client that has fetched.
    func fetched(_ form: PackForm) async throws -> VaultClient {
        let client = try place.client(form)
        _ = try await client.fetch()
        return client
    }
}

/// Where things of a game are; other processes find them by it.
struct GamePlace: Sendable, Codable {
    let root: String

    private var path: FilePath { FilePath(root) }
    var vault: VaultFolder { VaultFolder(path.appending("vault")) }
    var layout: StoreLayout { StoreLayout(root: path.appending("store")) }
    var keys: FileKeyProvider { FileKeyProvider(path: vault.vaultKeys) }
    var home: FilePath { layout.permanent.pushing(FilePath(Game.id)) }

    func client(_ form: PackForm) throws -> VaultClient {
        var configuration = VaultConfiguration(
            site: SiteLocation(path: vault.site), store: layout,
            trustedRoot: try DurableFile.read(vault.trustedRoot, limit: 1 << 20), keys: keys,
            transport: FileTransport())
        configuration.form = form
        return try VaultClient(configuration)
    }

    func store() -> VaultStore { VaultStore(layout, keys: keys) }

    /// The names of all versions, manifests and foreign files.
    func staged() throws -> [String] {
        let names = try Folder(opening: home).names().map { String(decoding: $0, as: UTF8.self) }
        let tails = names.filter { !$0.hasSuffix(".tail") }.map { $0 + ".tail" }
        return names.filter { $0 != "current" && !tails.contains($0) }
    }

    /// The plaintext below the store, by path.
    func files(below path: FilePath? = nil) throws -> [String: [UInt8]] {
        let path = path ?? layout.permanent.removingLastComponent()
        var found: [String: [UInt8]] = [:]
        for name in try Folder(opening: path).names() {
            let entry = path.appending(String(decoding: name, as: UTF8.self))
            switch try FileSystem.status(of: entry)?.kind {
            case .folder: found.merge(try files(below: entry)) { $1 }
            case .file: found[entry.string] = try DurableFile.read(entry, limit: 1 << 28)
            default: break
            }
        }
        return found
    }
}

extension PackID {
    static var one: PackID { get throws { try PackID(Game.id) } }
}

/// Incompressible bytes, the same for the same seed.
func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
    }
}

func flipByte(of path: FilePath, at offset: UInt64) throws {
    let file = try OpenFile(updating: path)
    let flipped = try file.readExactly(1, at: offset).map { $0 ^ 1 }
    try file.write(flipped.span, at: offset)
}

/// The `VaultError` that `body` throws.
func category(_ body: () async throws -> Void) async -> VaultError.Category? {
    do { try await body() } catch { return (error as? VaultError)?.category }
    return nil
}
