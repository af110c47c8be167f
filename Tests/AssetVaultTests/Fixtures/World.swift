import AssetVault
import AssetVaultFoundation
import FaultServer
import SealedPack
import Synchronization
import SystemPackage
import Testing
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem
import VaultTransport

/// A vault, the host of its site, and the stores of its clients, in a folder that is removed at the end.
final class World: Sendable {
    static let id = "levels/one"
    /// Stands in what is sealed, and must stand nowhere in plain.
    static let secret = Array("the treasure is below the old oak".utf8)

    /// Serves the site.
    let server: FaultServer
    private let scratch: ScratchFolder
    private let packs = Script()
    private let metadata = Script()
    private let isReleased = Flag()
    var place: Place { Place(root: scratch.path.string) }
    var layout: StoreLayout { place.layout }

    convenience init() async throws {
        try self.init(in: ScratchFolder(in: "/dev/shm"))
        try await place.vault.create(now: .now)
    }

    /// As another one was.
    convenience init(_ image: FolderImage) throws {
        let scratch = try ScratchFolder(in: "/dev/shm")
        try image.write(to: scratch.path)
        try self.init(in: scratch)
        // The sources are declared by whole paths.
        let settings = place.vault.path.appending("vault.json")
        let text = String(decoding: try DurableFile.read(settings, limit: 1 << 20), as: UTF8.self)
        let changed = Array(text.replacing(image.origin.string, with: place.root).utf8)
        try DurableFile.write(changed.span, to: settings, permissions: 0o644, replacing: true)
    }

    /// - Parameter scratch: In `/dev/shm`: nothing waits for a disk.
    private init(in scratch: consuming ScratchFolder) throws {
        let (packs, metadata) = (packs, metadata)
        let site = Place(root: scratch.path.string).vault.site
        server = try FaultServer(site.string) { ($0.isForPack ? packs : metadata).answer(to: $0) }
        self.scratch = scratch
    }

    func image() throws -> FolderImage { try FolderImage(of: scratch.path) }

    /// By itself, so that the server does not keep the world, which has the server: both are gone with the test.
    private final class Script: Sendable {
        let current = Mutex<@Sendable (FaultServer.Request) -> FaultServer.Answer>({ _ in .file })

        func answer(to request: FaultServer.Request) -> FaultServer.Answer {
            current.withLock { $0 }(request)
        }
    }

    // MARK: - The host

    /// How packs are answered for from now on.
    func answer(_ script: @escaping @Sendable (FaultServer.Request) -> FaultServer.Answer) {
        packs.current.withLock { $0 = script }
    }

    /// The same for metadata.
    func answerMetadata(_ script: @escaping @Sendable (FaultServer.Request) -> FaultServer.Answer) {
        metadata.current.withLock { $0 = script }
    }

    /// Packs come at about 2 MB/s each from now on.
    func slowDown() {
        answer { _ in .changed { $0.pace = (count: 1 << 14, pause: .milliseconds(8)) } }
    }

    /// Packs stop after half of their bytes until ``release()``.
    func hold() {
        let isReleased = isReleased
        answer { _ in
            .changed { reply in
                let rest = Array(reply.body.suffix(reply.body.count / 2))
                reply.body.removeLast(rest.count)
                reply.ending = [.until { isReleased.isSet }, .bytes(rest), .close]
            }
        }
    }

    func release() { isReleased.set() }

    /// The paths of the packs that were asked for.
    var askedPacks: Set<String> { Set(server.packs.map(\.request.path)) }

    /// The bytes of a hosted pack's file.
    func hosted(_ pack: PackManifest) throws -> [UInt8] {
        var path = place.vault.site.pushing(FilePath("targets/packs/\(pack.id)"))
        let name = path.lastComponent?.string ?? ""
        path.removeLastComponent()
        return try DurableFile.read(path.appending("\(pack.sha256.hex).\(name).avpack"), limit: 1 << 28)
    }

    // MARK: - Clients

    func configuration(keys: Bool = true) throws -> VaultConfiguration {
        var configuration = VaultConfiguration(
            site: try SiteLocation(server.url), store: place.layout, trustedRoot: try place.trustedRoot,
            keys: keys ? place.keys : nil)
        configuration.retries.firstBackoff = .milliseconds(10)
        return configuration
    }

    func client(
        keys: Bool = true, _ change: (inout VaultConfiguration) throws -> Void = { _ in }
    ) throws -> VaultClient {
        var configuration = try configuration(keys: keys)
        try change(&configuration)
        return try VaultClient(configuration)
    }

    func downloader(_ change: (inout VaultConfiguration) throws -> Void = { _ in }) throws -> PackDownloader {
        var configuration = try configuration(keys: false)
        try change(&configuration)
        return try PackDownloader(configuration)
    }

    /// A client that has fetched straight from the site's folder.
    func fetched(_ form: PackForm) async throws -> VaultClient {
        let client = try place.client(form)
        _ = try await client.fetch()
        return client
    }
}

/// Where things of a world are; other processes find them by it.
struct Place: Sendable, Codable {
    let root: String
    private var path: FilePath { FilePath(root) }

    var vault: VaultFolder { VaultFolder(path.appending("vault")) }
    var layout: StoreLayout { StoreLayout(root: path.appending("store")) }
    var keys: FileKeyProvider { FileKeyProvider(path: vault.vaultKeys) }
    var trustedRoot: [UInt8] { get throws { try DurableFile.read(vault.trustedRoot, limit: 1 << 20) } }
    var home: FilePath { layout.permanent.pushing(FilePath(World.id)) }

    func client(_ form: PackForm) throws -> VaultClient {
        var configuration = VaultConfiguration(
            site: SiteLocation(path: vault.site), store: layout, trustedRoot: try trustedRoot, keys: keys,
            transport: FileTransport())
        configuration.form = form
        return try VaultClient(configuration)
    }

    func store() -> VaultStore { VaultStore(layout, keys: keys) }

    /// The names of all versions, manifests and other files.
    func staged() throws -> [String] {
        let names = try names(in: home)
        let tails = names.filter { !$0.hasSuffix(".tail") }.map { $0 + ".tail" }
        return names.filter { $0 != "current" && !tails.contains($0) }
    }

    /// The plaintext below the store, by path.
    func files(below path: FilePath? = nil) throws -> [String: [UInt8]] {
        let path = path ?? layout.permanent.removingLastComponent()
        var found: [String: [UInt8]] = [:]
        for name in try names(in: path) {
            let entry = path.appending(name)
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
    static let one = PackID(constant: "levels/one")
    static let extras = PackID(constant: "extras")
}

func flipByte(of path: FilePath, at offset: UInt64) throws {
    let file = try OpenFile(updating: path)
    let flipped = try file.readExactly(1, at: offset).map { $0 ^ 1 }
    try file.write(flipped.span, at: offset)
}

/// The names in a folder.
func names(in folder: FilePath) throws -> [String] {
    try Folder(opening: folder).names().map { String(decoding: $0, as: UTF8.self) }
}

/// The `VaultError` that `body` throws.
func thrown(_ body: () async throws -> Void) async -> VaultError? {
    do { try await body() } catch { return error as? VaultError }
    return nil
}

func category(_ body: () async throws -> Void) async -> VaultError.Category? { await thrown(body)?.category }

extension VaultClient {
    /// Expects the first pack of ``World/withPacks(_:)`` to be loaded, with its content.
    func expectOne(at location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await store.status(of: .one).state == .loaded, sourceLocation: location)
        let bytes = try await store.contents(of: EntryPath("noise"), in: .one)
        #expect(bytes == World.one, sourceLocation: location)
    }

    /// Expects a loaded pack to have these files.
    func expect(
        _ files: [String: [UInt8]], in pack: PackID, at location: SourceLocation = #_sourceLocation
    ) async throws {
        for (name, bytes) in files {
            let found = try await store.contents(of: EntryPath(name), in: pack)
            #expect(found == bytes, "\(name)", sourceLocation: location)
        }
    }
}
