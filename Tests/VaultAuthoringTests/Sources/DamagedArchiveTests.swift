import Sampling
import SealedPack
import TestFiles
import Testing
import VaultAuthoring
import VaultBase

@Suite struct DamagedArchiveTests {
    private func expectCorrupt(_ archive: [UInt8], _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: VaultError.self, sourceLocation: location) { try Unpacked(archive) }
        #expect(error?.category == .corrupt, sourceLocation: location)
    }

    private func tar() -> HandmadeTar {
        var tar = HandmadeTar()
        tar.add("a", noise(1_500))
        tar.add("b", [1])
        return tar
    }

    private func zip() -> HandmadeZip {
        var zip = HandmadeZip()
        zip.add("a", noise(100))
        zip.add("b", [1])
        return zip
    }

    @Test func truncatedTar() throws {
        // 512 + 1,536 + 512 + 512 bytes, and the end.
        let bytes = tar().finished
        #expect(bytes.count == 3_072 + 1_024)
        for count in [1, 511, 512, 513, 1_000, 2_048, 2_100, 2_560, 2_561, 3_072, 3_100] {
            expectCorrupt(Array(bytes.prefix(count)))
        }
        // GNU tar also accepts one block of zeros.
        #expect(try Unpacked(Array(bytes.prefix(3_584))).entries.count == 2)
    }

    @Test func bytesAfterTar() throws {
        let bytes = tar().finished
        #expect(try Unpacked(bytes + [UInt8](repeating: 0, count: 300_000)).entries.count == 2)
        expectCorrupt(bytes + [1])
        expectCorrupt(bytes + [UInt8](repeating: 0, count: 300_000) + [1])
        expectCorrupt(bytes + bytes)
    }

    @Test func emptyArchives() throws {
        #expect(try Unpacked(HandmadeTar.end).entries.isEmpty)
        #expect(try Unpacked(HandmadeZip().finished).entries.isEmpty)
    }

    @Test func tarWithHugeSize() {
        for size in [0o7_777_777_7777, 5_000] {
            var tar = HandmadeTar()
            tar.add(Array("a".utf8), [1], size: size)
            expectCorrupt(tar.finished)
        }
    }

    @Test func malformedPaxHeader() {
        var tar = HandmadeTar()
        tar.add("x", type: "x", Array("99 path=evil\n".utf8))
        tar.add("a", [1])
        expectCorrupt(tar.finished)
    }

    @Test func truncatedZip() {
        let bytes = zip().finished
        for count in Sampling.numbers(5...bytes.count - 1, each: 3, for: "zipCutShort") {
            expectCorrupt(Array(bytes.prefix(count)))
        }
    }

    @Test func bytesAfterZip() {
        let bytes = zip().finished
        expectCorrupt(bytes + [0])
        expectCorrupt(bytes + bytes)
        expectCorrupt(Array(bytes.prefix(30)) + bytes)
    }

    @Test func zipWithWrongEntryCount() {
        for count in [0, 1, 3, 0xFFFF] { expectCorrupt(zip().finished(count: count)) }
    }

    @Test func zipWithTwoNamesForOneContent() {
        var zip = zip()
        zip.add(Array("c".utf8), noise(100), isAlias: true)
        expectCorrupt(zip.finished)
    }

    @Test func zip64() throws {
        #expect(try Unpacked(zip().finishedZip64).entries.count == 2)
        expectCorrupt(zip().finishedZip64 + [0])
    }

    @Test func zipFlippedBits() throws {
        let bytes = zip().finished
        for index in Sampling.numbers(0...bytes.count - 1, each: 3, for: "zipFlippedBits") {
            var damaged = bytes
            damaged[index] ^= 1
            // Times and versions may change; the content must be the same or refused.
            guard let unpacked = try? Unpacked(damaged) else { continue }
            #expect(unpacked.entries.count == 2)
            if unpacked.entries.first?.hasPrefix("a ") == true {
                #expect(try unpacked.folder.bytes("a") == noise(100))
            }
        }
    }

    @Test func tarFlippedBits() throws {
        let bytes = tar().finished
        for index in Sampling.numbers(0...bytes.count - 1, each: 3, for: "tarFlippedBits")
        where index % 2048 < 160 || index % 64 == 0 {
            var damaged = bytes
            damaged[index] ^= 0x80
            _ = try? Unpacked(damaged)
        }
    }

    @Test func sevenZipFlippedBits() throws {
        let bytes = try #require(RealArchives.sameTree.first { $0.name == "a.7z" }).bytes
        for index in Sampling.numbers(0...bytes.count - 1, each: 3, for: "sevenZipFlippedBits") {
            var damaged = bytes
            damaged[index] ^= 0x10
            _ = try? Unpacked(damaged)
        }
    }
}
