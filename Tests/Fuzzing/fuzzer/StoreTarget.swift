import AssetVault
import Foundation
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultTransport

/// Changes what stands in shared and ephemeral storage, as an input says, and lets an app open what waits there. Version 1 of
/// two packs is loaded before, version 2 waits: afterwards each pack is whole, in one of both versions.
///
/// An input is a list of changes: a byte for the kind, one for the file, and what the kind needs (see ``Change``).
final class StoreTarget: FuzzTarget {
    private static let packs = ["levels/one", "levels/two"]
    private static let file = "map.txt"
    private static let contents = ["first", "second"].map { edition in
        packs.map { Array(String(repeating: "\(edition) \($0) ", count: 200).utf8) }
    }

    private let folder: URL
    private let store: URL
    private let template: URL
    private let keys: FileKeyProvider

    init() {
        folder = .scratch(named: "stores")
        store = folder.appending(path: "store")
        template = folder.appending(path: "template")
        keys = FileKeyProvider(path: FilePath(folder.appending(path: "vault/keys/vault.jwks").path))
        wait { [self] in
            do { try await makeTemplate() } catch { fatalError("the fuzzer can't begin: \(error)") }
        }
    }

    private func makeTemplate() async throws {
        let vault = VaultFolder(FilePath(folder.appending(path: "vault").path))
        try await vault.create(now: .now)
        let root = try Data(contentsOf: folder.appending(path: "vault/trusted-root.json"))
        for edition in Self.contents.indices {
            for (pack, content) in zip(Self.packs, Self.contents[edition]) {
                let source = folder.appending(path: "source").appending(path: pack)
                try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
                try Data(content).write(to: source.appending(path: Self.file))
            }
            let sources = FilePath(folder.appending(path: "source").path)
            _ = try await Publication.run(of: vault, AuthorRequest(keys: keys, now: .now)) {
                settings throws(VaultError) in
                for pack in Self.packs { try settings.declare(PackID(pack), source: sources.appending(pack)) }
            }
            let configuration = VaultConfiguration(
                site: SiteLocation(path: FilePath(folder.appending(path: "vault/site").path)),
                store: StoreLayout(root: FilePath(store.path)), trustedRoot: Array(root), keys: keys)
            if edition == 0 {
                _ = try await VaultClient(configuration).fetch()
            } else {
                _ = try await PackDownloader(configuration).run(.update)
            }
        }
        try FileManager.default.moveItem(at: store, to: template)
    }

    func read(_ input: [UInt8]) {
        do {
            try? FileManager.default.removeItem(at: store)
            try FileManager.default.copyItem(at: template, to: store)
        } catch { fatalError("the fuzzer can't write: \(error)") }
        var reader = InputReader(input)
        for _ in 0..<16 where !reader.isAtEnd { Change(from: &reader).apply(to: store) }
        wait { [self] in await openAndCheck() }
    }

    private func openAndCheck() async {
        let opened = VaultStore(StoreLayout(root: FilePath(store.path)), keys: keys)
        _ = try? await opened.status()
        _ = try? await opened.usage()
        _ = try? await opened.unlock()
        for (number, pack) in Self.packs.enumerated() {
            guard let id = try? PackID(pack), let path = try? EntryPath(Self.file) else { continue }
            let content = try? await opened.contents(of: path, in: id)
            require(
                Self.contents.contains { $0[number] == content }, "'\(pack)' is whole, in one of its versions"
            )
        }
    }

    /// One act of a writer without keys.
    private struct Change {
        private let kind: Int
        private let number: Int
        private let offset: Int
        private let bytes: [UInt8]

        init(from reader: inout InputReader) {
            (kind, number, offset) = (reader.byte() % 8, reader.byte(), reader.word())
            bytes = reader.bytes(min(reader.byte(), 200))
        }

        /// Names that the program uses, and some that it does not.
        private static let names = [
            "shared/@lock", "shared/@trust/timestamp.json", "shared/@trust/lock",
            "shared/@traffic/2026-01-01",
            "shared/@state/levels/one/@record.json", "shared/@work/mark", "shared/packs/levels/one/@x.avpack",
            "shared/packs/levels/three/@\(String(repeating: "0", count: 64)).avpack.json", "shared/a/b/c/d",
            "ephemeral/\(String(repeating: "0", count: 64)).part", "ephemeral/x.avpack",
        ]

        /// What can't be done is left.
        func apply(to store: URL) {
            let files = FileManager.default
            let existing = ["shared", "ephemeral"].flatMap { area in
                (files.subpaths(atPath: store.appending(path: area).path) ?? []).sorted().map {
                    "\(area)/\($0)"
                }
            }
            let known = existing + Self.names
            let path = store.appending(path: known[number % known.count])
            switch kind {
            case 0, 1, 2:
                guard var content = try? Data(contentsOf: path) else { return }
                let place = offset % max(1, content.count)
                switch kind {
                case 0: content.replaceSubrange(place..<min(content.count, place + bytes.count), with: bytes)
                case 1: content.insert(contentsOf: bytes, at: place)
                default: content = content.prefix(place)
                }
                try? content.write(to: path)
            case 3: try? files.removeItem(at: path)
            case 4, 5:
                try? files.createDirectory(
                    at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
                try? Data(bytes).write(to: path)
            case 6:
                try? files.removeItem(at: path)
                try? files.createSymbolicLink(atPath: path.path, withDestinationPath: "/dev/zero")
            default:
                try? files.removeItem(at: path)
                try? files.createDirectory(at: path, withIntermediateDirectories: true)
            }
        }
    }
}
