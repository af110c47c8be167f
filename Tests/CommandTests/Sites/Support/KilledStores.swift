import FaultServer
import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultCrypto

@testable import AssetVault
@testable import SealedPack

/// A site with version 2 of a pack, and prepared stores in which commands are killed.
struct KilledStores {
    let world: World
    let operation: KilledOperation
    let start: KilledOperation.Start
    let server: FaultServer
    /// Where the pieces of version 2 lie in its file.
    let ranges: PieceRanges
    let packLength: Int
    private let pack: PackFile
    private let trees: [Tree]
    /// The last bytes of each version's file, which identify it.
    private let footers: [[UInt8]]

    /// - Parameters:
    ///   - noise: the content of the largest file of each version.
    ///   - prepare: fetches version 1 in another way.
    init(
        _ operation: KilledOperation, from start: KilledOperation.Start,
        noise: (_ version: UInt64) -> [UInt8] = { Bytes.random(10 << 16, seed: $0) },
        preparing prepare: (World) async throws -> Void = { _ in }
    ) async throws {
        (self.operation, self.start) = (operation, start)
        let world = try await World()
        self.world = world
        var trees: [Tree] = []
        var footers: [[UInt8]] = []
        func publish(_ version: UInt64) async throws {
            for number in 0..<12 {
                try world.write("level/\(number % 3)/\(number)", "version \(version) of \(number)")
            }
            try world.write("level/noise", noise(version))
            try await world.publish()
            try await world.copy("level", to: "level-\(version)")
            trees.append(try Tree(world["level-\(version)"]))
            let bytes = try world.publishedBytes(of: "level")
            footers.append(Array(bytes.suffix(PackFooter.length)))
        }
        try world.settings {
            $0["packs"] = ["level": ["source": .string(world["level"]), "tags": ["one"]]]
        }
        try await publish(1)
        try world.makeFolder("store/shared")
        if start == .loaded {
            try await world.fetch(operation == .sealed ? "--sealed" : "").succeeded()
        }
        try await prepare(world)
        try await publish(2)
        (self.trees, self.footers) = (trees, footers)
        pack = try PackFile(
            opening: world.path.appending("vault/site/\(world.publishedPack("level"))"), as: nil)
        packLength = Int(pack.length)
        ranges = try PieceRanges(of: pack)
        // Slowly enough that little is on its way when a client dies.
        server = try FaultServer(world.site) { request in
            guard request.isForPack else { return .file }
            return .changed { $0.pace = (16 << 10, .milliseconds(2)) }
        }
        if operation == .unlock || operation == .remove && start == .loaded {
            try await world.fetch(withKeys: false).succeeded()
        } else if operation == .remove {
            #expect(try await world.fetch(dyingAt: "pieceWritten:1").exitCode == 137)
        }
    }

    /// A store like the first one.
    func store(_ name: String) async throws -> String {
        try await world.copy("store", to: name)
        return world[name]
    }

    /// Runs the command to its end, or to the step at which it dies.
    func run(_ operation: KilledOperation? = nil, in store: String, dyingAt step: String? = nil) async throws
        -> CommandResult
    {
        try await world.run((operation ?? self.operation).words(server.url, store), dyingAt: step ?? "none")
    }

    /// Publishes a version after those of the stores.
    func publishThird() async throws {
        try world.write("level/noise", "version 3")
        try await world.publish()
    }

    /// Makes the app's record of the pack unreadable.
    func spoilRecord(in store: String) throws {
        try Data("?".utf8).write(to: URL(filePath: "\(store)/permanent/@state/level/@record.json"))
    }

    /// After an interruption: `status` works, and the old or the new version is live and complete.
    func expectOldOrNew(in store: String, _ hint: String) async throws {
        let status = try await world.status(of: store)
        let current = "\(store)/permanent/level/current"
        guard FileManager.default.fileExists(atPath: current) else {
            #expect(start == .fresh || operation == .remove, "the old version is gone \(hint)")
            #expect(status["level"]?.version == nil, "\(hint)")
            return
        }
        let version = try await version(of: current)
        #expect(version == 2 || start == .loaded && version == 1, "\(version as Any) \(hint)")
        #expect(status["level"]?.version == version, "\(hint)")
    }

    /// The version at a path, if it is complete.
    func version(of path: String) async throws -> Int64? {
        let place = URL(filePath: path).resolvingSymlinksInPath()
        let found: Int?
        if try place.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true {
            let tree = try Tree(path)
            found = trees.firstIndex { $0 == tree }
        } else {
            let file = try PackFile(opening: FilePath(place.path), as: nil)
            guard try await file.check().isSound else { return nil }
            found = footers.firstIndex(of: file.footer.bytes)
        }
        return found.map { Int64($0) + 1 }
    }

    /// The pieces of version 2 in a partial download, or in the tree that it is opened into.
    func keptPieces(in store: String) async throws -> [Bool] {
        if operation == .opened || operation == .access { return try await piecesOfTree(in: store) }
        let name = try #require(world.files(in: "ephemeral", of: store).first { $0.hasSuffix(".part") })
        let part = [UInt8](try Data(contentsOf: URL(filePath: "\(store)/ephemeral/\(name)")))
        return try (0..<ranges.count).map { number in
            let place = Int(ranges[number].lowerBound)..<Int(ranges[number].upperBound)
            return try SHA256.hash(part[place].span) == pack.digest(ofPiece: number)
        }
    }

    private func piecesOfTree(in store: String) async throws -> [Bool] {
        let folder = try #require(
            try FileManager.default.contentsOfDirectory(atPath: "\(store)/permanent/level").first {
                $0.hasSuffix(".arriving")
            })
        let records = PackRecords(layout: StoreLayout(root: FilePath(store)), role: .app)
        let manifest = try #require(try records.record(of: PackID("level")).arriving)
        let keys = FileKeyProvider(path: world.path.appending("vault/keys/vault.jwks"))
        let key = try await keys.contentKey(manifest.contentKeyID, slots: manifest.slots, place: "test")
        let opened = try OpenPack(pack, key: key)
        let tree = OpenedTree(FilePath("\(store)/permanent/level/\(folder)"), of: opened)
        return (0..<ranges.count).map { (try? tree.plaintext(ofPiece: $0)) != nil }
    }

    /// Bytes to request when these pieces, index and catalog are stored.
    func missing(besides kept: [Bool]) -> Int {
        var states = PieceStates(count: ranges.count)
        for number in kept.indices where kept[number] { states.notePresent(number) }
        return Int(UpdateCost(pack.footer.layout, states, ranges, tailBytes: 0).bytes)
    }

    /// The end that the command comes to, and the one that a key brings from there.
    func expectEnd(in store: String, _ hint: String) async throws {
        if operation == .access {
            // A request that has all it needs changes nothing else: other commands clean up behind it.
            try await run(.opened, in: store).succeeded()
            try await world.run("usage --store \(store)").succeeded()
        }
        try operation.end(from: start).expect(in: store, hint)
        try await expectOldOrNew(in: store, hint)
        guard operation == .keyless || operation == .downloader else { return }
        try await run(.unlock, in: store).succeeded()
        try StoreContent(loaded: 2).expect(in: store, hint)
        try await expectOldOrNew(in: store, hint)
    }
}

extension FaultServer.Exchange {
    /// Bytes requested of a file of this length.
    func asked(of length: Int) -> Int {
        guard let range = request.range else { return length }
        return min(range.last ?? .max, length - 1) - range.first + 1
    }
}
