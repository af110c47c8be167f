import Foundation
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Expects an error of this category whose problem has these words.
@discardableResult
func expectError<Result>(
    _ category: VaultError.Category = .corrupt, _ words: String = "",
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> VaultError? {
    let error = await #expect(throws: VaultError.self, sourceLocation: sourceLocation) {
        _ = try await body()
    }
    guard let error else { return nil }
    #expect(error.category == category, "\(error)", sourceLocation: sourceLocation)
    #expect(words.isEmpty || error.problem.contains(words), "\(error)", sourceLocation: sourceLocation)
    return error
}

/// Collects the content of a pack in memory.
struct MemorySink: ContentSink, ~Copyable {
    struct Entry: Equatable {
        let path: String
        let kind: PackEntryKind
        var bytes: [UInt8] = []
        var isComplete = false
    }

    private(set) var entries: [Entry] = []

    var content: [UInt8] { entries.flatMap(\.bytes) }

    mutating func beginEntry(_ entry: Catalog.Entry) throws(VaultError) {
        #expect(entries.last?.isComplete != false, "an entry began inside another")
        entries.append(Entry(path: entry.path.string, kind: entry.kind))
    }

    mutating func write(_ bytes: Span<UInt8>) throws(VaultError) {
        for index in bytes.indices { entries[entries.count - 1].bytes.append(bytes[index]) }
    }

    mutating func endEntry() throws(VaultError) { entries[entries.count - 1].isComplete = true }
}

/// One file that is overwritten with each pack.
final class PackPlace: Sendable {
    let folder: TemporaryFolder
    let path: FilePath
    private let file: OpenFile

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path.appending("pack.avpack")
        file = try OpenFile(creating: path, permissions: 0o644)
    }

    func store(_ bytes: [UInt8]) throws {
        try file.truncate(to: UInt64(bytes.count))
        try file.write(bytes.span, at: 0)
    }

    func open(_ bytes: [UInt8], as manifest: JSONObject? = nil, with key: ContentKey) throws -> OpenPack {
        try store(bytes)
        let manifest = try manifest.map { try PackManifest(parsing: $0, place: "test") }
        return try OpenPack(try PackFile(opening: path, as: manifest), key: key)
    }

    /// Reads a pack to its last byte. Bytes delivered before an error go to `seen`.
    func read(
        _ bytes: [UInt8], as manifest: JSONObject? = nil, with key: ContentKey,
        seen: (borrowing MemorySink) -> Void = { _ in }
    ) async throws -> [MemorySink.Entry] {
        let pack = try open(bytes, as: manifest, with: key)
        var sink = MemorySink()
        do throws(VaultError) {
            try await pack.extract(to: &sink)
        } catch {
            seen(sink)
            throw error
        }
        return sink.entries
    }

    /// Expects that a pack does not open, and that only a prefix of `content` was delivered before the error.
    func expectRefusal(
        _ bytes: [UInt8], as manifest: JSONObject? = nil, with key: ContentKey, content: [UInt8] = [],
        _ category: VaultError.Category = .corrupt, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        do {
            _ = try await read(bytes, as: manifest, with: key) { sink in
                #expect(content.starts(with: sink.content), comment, sourceLocation: sourceLocation)
            }
            Issue.record(comment ?? "it opens", sourceLocation: sourceLocation)
        } catch let error as VaultError {
            #expect(error.category == category, comment, sourceLocation: sourceLocation)
        } catch {
            Issue.record(error, comment, sourceLocation: sourceLocation)
        }
    }

    /// Expects that with each of these manifests.
    func expectRefusal(
        _ bytes: [UInt8], asEachOf manifests: [JSONObject?], with key: ContentKey, content: [UInt8] = [],
        _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        for manifest in manifests {
            await expectRefusal(
                bytes, as: manifest, with: key, content: content, .corrupt, comment,
                sourceLocation: sourceLocation)
        }
    }
}
