import SealedPack
import SystemPackage
import Testing
import VaultAuthoring
import VaultBase
import VaultCrypto
import VaultFileSystem

@Suite struct DamagedSiteTests {
    enum Region: CaseIterable {
        case header, firstPiece, lastPiece, index, catalog, footer

        func offset(in pack: PackManifest) -> UInt64 {
            let catalog = pack.length - 128 - pack.catalogLength
            let index = catalog - 36 * UInt64(pack.pieceCount)
            return switch self {
            case .header: 20
            case .firstPiece: 64
            case .lastPiece: index - 1
            case .index: index + 40
            case .catalog: catalog + 60
            case .footer: pack.length - 1
            }
        }

        func problem(in pack: PackManifest) -> String {
            switch self {
            case .header: "header or footer differ from the manifest"
            case .firstPiece: "damaged pieces (1): number 0"
            case .lastPiece: "damaged pieces (1): number \(pack.pieceCount - 1)"
            case .index: "the index has the wrong digest"
            case .catalog: "the catalog is damaged"
            case .footer: "the pack's footer is damaged or the pack is cut short"
            }
        }
    }

    @Test(arguments: Region.allCases)
    func findsAFlippedByte(in region: Region) async throws {
        let vault = try await TestVault.published()
        let pack = try await vault.packs()[0]
        let file = try vault.file(of: pack)
        try vault.flipByte(of: file, at: region.offset(in: pack))
        let report = try await vault.audit()
        #expect(report.packs.map(\.isSound) == [false, true])
        #expect(report.packs[0].findings.map(\.place) == [file.string])
        #expect(report.gravestError?.category == .corrupt)
        #expect(report.verifiedBytes == report.packs[1].length)
        if region == .header || region == .footer {
            #expect(report.problems == ["header or footer differ from the manifest"])
        } else {
            #expect(report.problems == [region.problem(in: pack)])
        }
        // The pack file alone shows the same, except for signed data.
        if region != .header {
            let alone = try await vault.audit(file)
            #expect(alone.problems == [region.problem(in: pack)])
        }
    }

    @Test func namesTheFilesOfADamagedPieceAndVerifiesTheOthers() async throws {
        let vault = try await TestVault.published()
        let pack = try await vault.packs()[0]
        try vault.flipByte(of: try vault.file(of: pack), at: 64)
        let report = try await vault.audit(keyed: true)
        let damaged = report.packs[0]
        #expect(damaged.findings.count == 2)
        #expect(damaged.findings.last?.place.hasSuffix(".avpack: a.bin") == true)
        #expect(damaged.verifiedEntries == 2)
        #expect(report.packs[1].verifiedEntries == 1)
    }

    @Test func findsACutAndALongerFile() async throws {
        let vault = try await TestVault.published()
        let packs = try await vault.packs()
        let (first, second) = (try vault.file(of: packs[0]), try vault.file(of: packs[1]))
        try vault.write(Array(vault.read(first).dropLast()), to: first)
        try vault.write(vault.read(second) + [0], to: second)
        let report = try await vault.audit()
        #expect(report.problemCount == 2)
        #expect(report.problems.allSatisfy { $0.contains("of its manifest") })
        #expect(report.gravestError?.category == .corrupt)
    }

    @Test func reportsAMissingFileAndContinues() async throws {
        let vault = try await TestVault.published()
        try FileSystem.removeFile(try vault.file(of: try await vault.packs()[0]))
        let report = try await vault.audit()
        #expect(report.problems == ["the site lists it, but it is not there"])
        #expect(report.gravestError?.category == .corrupt)
        #expect(report.packs.map(\.isSound) == [false, true])
    }

    @Test func findsSwappedFiles() async throws {
        let vault = try await TestVault.published()
        let packs = try await vault.packs()
        let (first, second) = (try vault.file(of: packs[0]), try vault.file(of: packs[1]))
        let bytes = (try vault.read(first), try vault.read(second))
        try vault.write(bytes.1, to: first)
        try vault.write(bytes.0, to: second)
        let report = try await vault.audit()
        #expect(report.packs.map(\.isSound) == [false, false])
        #expect(report.verifiedBytes == 0)
    }

    @Test func findsAnEarlierVersionUnderTheNewName() async throws {
        let vault = try await TestVault.published()
        let old = try vault.read(try vault.file(of: try await vault.packs()[0]))
        var changed = TestVault.noise(66_000, seed: 1)
        changed[0] ^= 1
        try vault.write(changed, to: "one/a.bin")
        try await vault.publish()
        try vault.write(old, to: try vault.file(of: try await vault.packs()[0]))
        let report = try await vault.audit()
        #expect(report.packs.map(\.version) == [2, 1])
        #expect(report.packs.map(\.isSound) == [false, true])
    }

    @Test func aMissingKeyIsNotDamage() async throws {
        let vault = try await TestVault.published()
        let other = vault.otherKeys
        try VaultKeyFile.generate(at: other)
        let report = try await vault.audit(pinned: false, by: FileKeyProvider(path: other))
        #expect(report.gravestError?.category == .key)
        #expect(report.problemCount == 2)
        // Damage is more severe than a missing key.
        try vault.flipByte(of: try vault.file(of: try await vault.packs()[1]), at: 64)
        let both = try await vault.audit(pinned: false, by: FileKeyProvider(path: other))
        #expect(both.gravestError?.category == .corrupt)
        #expect(both.gravestError?.problem.hasPrefix("damaged pieces") == true)
        #expect(both.problemCount == 3)
    }
}
