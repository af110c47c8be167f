import AssetVault
import FaultServer
import Glibc
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

@testable import SealedPack

/// A hosted pack of ten files, of which each version changes one.
struct ChangedPack {
    let world: World
    var id: PackID { .one }

    /// Version 1, of a megabyte in some twenty pieces, is hosted.
    init() async throws {
        world = try await World.withPacks()
        try await publish(1)
    }

    static func files(_ version: UInt64) -> [String: [UInt8]] {
        var files = Dictionary(
            uniqueKeysWithValues: (0..<10).map { ("file \($0)", noise(90_000, seed: $0 + 10)) })
        files["file 4"] = noise(90_000, seed: Int(100 + version))
        // Worth compressing.
        for name in ["file 8", "file 9"] { files[name] = files[name]?.map { $0 & 15 } }
        return files
    }

    func publish(_ version: UInt64) async throws { try await world.publish(Self.files(version)) }

    func client(_ form: PackForm) throws -> VaultClient { try world.client { $0.form = form } }

    /// The hosted pack's file, as the site lists it to `client`.
    func hosted(_ client: VaultClient) async throws -> PackFile {
        let pack = try await client.pack(withID: id)
        let path = world.place.vault.path.appending(pack.sha256.hex)
        let bytes = try world.hosted(pack)
        try OpenFile(creating: path, permissions: 0o644).write(bytes.span, at: 0)
        return try PackFile(opening: path, as: nil)
    }

    /// Publishes version 2; what it costs a client that has these pieces.
    func publishSecond(to client: VaultClient, reusing pieces: any PieceSource) async throws -> UpdateCost {
        try await publish(2)
        try await client.refresh()
        return try UpdateCost(of: try await hosted(client), reusing: [pieces])
    }

    /// Bytes of packs that a fetch takes.
    func sent(by client: VaultClient) async throws -> Int {
        let before = try await world.server.packBytesAtRest
        _ = try await client.fetch()
        return try await world.server.packBytesAtRest - before
    }

    /// The same of a downloader's update.
    func sentByDownloader() async throws -> Int {
        let before = try await world.server.packBytesAtRest
        #expect(try await world.downloader().run(.update).firstError == nil)
        return try await world.server.packBytesAtRest - before
    }

    func expectContent(_ version: UInt64, _ client: VaultClient) async throws {
        try await client.expect(Self.files(version), in: id)
    }

    /// Fetches into an empty store. The host sends the tail and then `count` bytes, waits until these are on the disk, and fails.
    func interrupt(after count: Int, withKeys: Bool = true) async throws {
        let folders = [world.place.home.string, world.layout.ephemeral.string]
        world.answer { request in
            switch request.earlier {
            case 0: .file
            case 1:
                .changed { reply in
                    reply.body = Array(reply.body.prefix(count))
                    let sent = reply.body.count
                    // Sealed pieces are longer than their plaintext.
                    let wait: Step = .until {
                        folders.reduce(0) { $0 + allocatedBytes(below: $1) } >= sent / 100 * 99
                    }
                    reply.ending = [wait, .close]
                }
            default: .hangUp
            }
        }
        let client = try world.client(keys: withKeys) { $0.retries.attempts = 1 }
        #expect(await category { _ = try await client.fetch(.only([id])) } == .unavailable)
        world.answer { _ in .file }
    }

    /// The same after the first half of the pieces, which is returned.
    func interruptHalfway(withKeys: Bool = true) async throws -> FirstPieces {
        let client = try client(.sealed)
        try await client.refresh()
        let hosted = try await hosted(client)
        let ranges = try PieceRanges(of: hosted)
        let half = ranges[ranges.count / 2].lowerBound
        try await interrupt(after: Int(half - ranges[0].lowerBound), withKeys: withKeys)
        return FirstPieces(pack: hosted, end: half)
    }

    /// The pieces of a pack that end before `end`.
    struct FirstPieces: PieceSource {
        let pack: PackFile
        fileprivate let end: UInt64

        func has(pieceAt range: Range<UInt64>) -> Bool { range.upperBound <= end }
    }
}

extension ChangedPack {
    /// Version 1, and what each version since then changed: another file each time.
    private static func changedFiles(_ version: Int) -> [String: [UInt8]] {
        var files = files(1)
        for number in 2...version { files["file \(number % 8)"] = noise(90_000, seed: 200 + number) }
        return files
    }

    func publish(changes version: Int) async throws {
        try await world.publish(Self.changedFiles(version))
    }

    func expect(changes version: Int, _ client: VaultClient) async throws {
        try await client.expect(Self.changedFiles(version), in: id)
    }
}

/// What the files in a folder and its folders take on the disk.
func allocatedBytes(below folder: String) -> Int {
    var status = stat()
    guard unsafe lstat(folder, &status) == 0 else { return 0 }
    guard status.st_mode & S_IFMT == S_IFDIR else { return Int(status.st_blocks) * 512 }
    let names = (try? names(in: FilePath(folder))) ?? []
    return names.reduce(0) { $0 + allocatedBytes(below: "\(folder)/\($1)") }
}
