import Foundation
import SealedPack
import SystemPackage
import TestFiles
import Testing
import VaultAuthoring
import VaultBase
import VaultFileSystem

/// Files that change between the scan of their folder and the end of sealing.
@Suite struct ChangingSourceTests {
    private let key: ContentKey
    private let folder: TemporaryFolder

    init() async throws {
        key = try await TestKey().contentKey()
        folder = try TemporaryFolder()
    }

    /// Scans, changes, seals.
    private func sealAfter(_ change: (FilePath) throws -> Void) async throws -> VaultError {
        let source = Source(files: ["a": prose(100), "large": noise(200_000), "z": prose(100)])
        let path = try source.write(to: folder, as: "source")
        let scanned = try SourceFolder(scanning: path)
        try change(path)
        let output = OpenFileReference(
            try OpenFile(creating: folder.path.appending("pack"), permissions: 0o644))
        let order = SealingRequest(id: try PackID("a"), versioning: .exactly(1), key: key, slots: [])
        do throws(VaultError) {
            _ = try await order.seal(scanned, into: output)
        } catch {
            return error
        }
        throw SealedDespiteChange()
    }

    private struct SealedDespiteChange: Error {}

    @Test(arguments: ["a", "large", "z"]) func changedSizeIsReported(_ name: String) async throws {
        for change in [-1, 1] {
            try? FileManager.default.removeItem(atPath: folder.path.appending("pack").string)
            let error = try await sealAfter { path in
                let file = try OpenFile(updating: path.appending(name))
                try file.truncate(to: UInt64(Int(try file.status().size) + change))
            }
            #expect(error.category == .io)
            #expect(error.place.hasSuffix(name))
        }
    }

    @Test func removedFileIsReported() async throws {
        let error = try await sealAfter { path in
            try FileManager.default.removeItem(atPath: path.appending("z").string)
        }
        #expect(error.category == .missing)
    }

    @Test func linkInsteadOfFileIsReported() async throws {
        try folder.write("secret", prose(100))
        let error = try await sealAfter { path in
            try FileManager.default.removeItem(atPath: path.appending("z").string)
            try FileManager.default.createSymbolicLink(
                atPath: path.appending("z").string,
                withDestinationPath: folder.path.appending("secret").string)
        }
        #expect(error.category == .corrupt)
    }

    /// A large file is truncated or extended while its pieces are sealed.
    @Test(arguments: [3_000_000, 20_000_001]) func sizeChangeWhileSealingIsReported(_ size: UInt64)
        async throws
    {
        let path = try Source(files: ["large": noise(20_000_000)]).write(to: folder, as: "source")
        let file = try OpenFile(updating: path.appending("large"))
        var hasChanged = false
        do {
            _ = try await seal(folder: path, key: key) { _ in
                if !hasChanged { try? file.truncate(to: size) }
                hasChanged = true
            }
            Issue.record("it was sealed")
        } catch let error as VaultError {
            #expect(error.category == .io)
            #expect(error.place.hasSuffix("large"))
        }
        #expect(hasChanged)
    }

    /// Each byte is read once, so a change without a new size gives a pack that opens.
    @Test func contentChangeWhileSealingGivesASoundPack() async throws {
        let path = try Source(files: ["large": noise(20_000_000)]).write(to: folder, as: "source")
        let file = try OpenFile(updating: path.appending("large"))
        let sealed = try await seal(folder: path, key: key) { done in
            try? file.write([UInt8](repeating: 0, count: 4_096).span, at: done / 2)
            try? file.write([UInt8](repeating: 0, count: 4_096).span, at: min(done + 2_000_000, 19_990_000))
        }
        let entries = try await PackPlace().read(sealed.bytes, as: sealed.manifest.json, with: key)
        #expect(entries.map(\.bytes.count) == [20_000_000])
    }
}
