import SealedPack
import SystemPackage
import Testing

@testable import AssetVault

/// Everything a store holds of a pack when no process runs.
struct StoreContent: Equatable {
    /// The version that is ready for use.
    var loaded: UInt64?
    var isSealed = false
    /// The version that waits for its key.
    var waiting: UInt64?

    func expect(
        of id: String = "level", in store: String, _ hint: String,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        try Self.expectNothingUnderWay(in: store, hint, at: location)
        let names = try Tree(store).entries.keys
        func own(_ folder: String) -> [String] {
            names.filter { $0.hasPrefix(folder + "/@") }.map { String($0.dropFirst(folder.count + 1)) }
                .filter { !$0.contains("/") }.sorted()
        }
        // A version with its manifest, and what an opened one was opened from, or what a sealed one rests on: a file, and the places.
        let versions = own("permanent/\(id)")
        let rests = versions.contains { $0.hasSuffix(".places") }
        let count = loaded == nil ? 0 : isSealed && !rests ? 2 : isSealed ? 4 : 3
        #expect(versions.count == count, "\(versions) \(hint)", sourceLocation: location)
        if let loaded {
            #expect(
                versions.count { $0.hasPrefix("@\(loaded)-") } == (rests ? 3 : count)
                    && versions.contains { $0.hasSuffix(".avpack") } == isSealed,
                "\(versions) \(hint)", sourceLocation: location)
        }
        #expect(
            names.contains("permanent/\(id)/current") == (loaded != nil), "\(hint)", sourceLocation: location)
        // A pack with its manifest, or with what it rests on: a file, and the places.
        let packs = own("shared/packs/\(id)")
        let rest = packs.contains { $0.hasSuffix(".places") } ? 2 : 0
        #expect(packs.count == (waiting == nil ? 0 : 2 + rest), "\(packs) \(hint)", sourceLocation: location)

        let records = PackRecords(layout: StoreLayout(root: FilePath(store)), role: .app)
        let decided = try records.record(of: try PackID(id))
        let brought = try records.record(of: try PackID(id), in: .downloader)
        #expect(decided.loaded?.pack.version == loaded, "\(hint)", sourceLocation: location)
        // What waits is recorded by the role that brought it.
        let record = decided.waiting == nil && waiting != nil ? brought : decided
        #expect(record.waiting?.version == waiting, "\(hint)", sourceLocation: location)
        #expect(
            record.arriving == nil && record.failure == nil, "\(record) \(hint)",
            sourceLocation: location)
    }

    /// No unfinished files, no marks of work, and no downloads.
    private static func expectNothingUnderWay(
        in store: String, _ hint: String, at location: SourceLocation
    ) throws {
        let names = try Tree(store).entries.keys
        let left = names.filter {
            $0.contains(".assetvault-") || $0.hasPrefix("ephemeral/") || $0.contains("/@work/")
        }
        #expect(left == [], "\(hint)", sourceLocation: location)
    }
}
