import SealedPack
import Testing
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultSite

/// One record with several versions of a pack, some of them in the format of a later release.
@Suite struct ListedPackTests {
    private func digest(_ version: Int64) -> String { String(repeating: "\(version)", count: 64) }

    private func target(_ version: Int64, format: Int64 = 1) -> JSONObject {
        let part: JSONObject = ["length": 36, "sha256": .string(digest(version))]
        let vault: JSONObject = [
            "format": .integer(format), "id": "level", "version": .integer(version), "policy": "prefetch",
            "tags": [], "traits": [:], "openedSize": 100, "pieces": 1, "entries": 1, "slots": [],
            "contentKeyID": .string(String(repeating: "A", count: 22)), "index": .object(part),
            "catalog": .object(part),
        ]
        return [
            "length": 4096, "hashes": ["sha256": .string(digest(version))],
            "custom": ["assetvault": .object(vault)],
        ]
    }

    private func record(_ first: JSONObject, _ others: JSONObject...) throws -> TargetRecord {
        var json = first
        var custom = try json.object("custom", at: "test")
        custom["assetvaultOthers"] = .array(others.map { .object($0) })
        json["custom"] = .object(custom)
        return try TargetRecord(path: PackID("level").targetPath, json: json)
    }

    private func versions(_ listed: ListedPack) -> [UInt64] {
        ([listed.pack] + listed.otherVersions).map(\.version)
    }

    /// A table of opaque names counts if the site itself has signed it.
    @Test func aTableOfNames() throws {
        var json = target(1)
        var custom = try json.object("custom", at: "test")
        var vault = try custom.object("assetvault", at: "test")
        vault["id"] = .string(PackNames.packID)
        custom["assetvault"] = .object(vault)
        json["custom"] = .object(custom)
        var record = try TargetRecord(path: PackID(PackNames.packID).targetPath, json: json)
        for (name, isRead) in [("packs", true), ("channel.beta", true), ("team", false)] {
            record.signer = MetadataRole(delegated: name)
            let listed = try? ListedPack.readable(in: record, granting: TagGrants(to: []))
            #expect((listed != nil) == isRead, "\(name)")
            let packs = PublishedPacks(of: [record], granting: TagGrants(to: []))
            #expect(packs.packs.isEmpty != isRead && packs.skipped.isEmpty == isRead, "\(name)")
        }
    }

    /// A table gives names to opaque IDs alone, and so to no pack with a public name.
    @Test func aTableOfOtherIDs() throws {
        let opaque = "q" + String(repeating: "0f", count: 16)
        let ids = [opaque: true, "\(opaque)/\(opaque)": true]
        let others = [
            "level", "q", opaque + "0", opaque.uppercased(), "\(opaque)/level", "\(opaque)/\(opaque)/q",
        ]
        for (id, isRead) in ids.merging(others.map { ($0, false) }, uniquingKeysWith: { $1 }) {
            let offer = "\"policy\": \"prefetch\", \"tags\": [], \"traits\": {}"
            let json = "{\"format\": 1, \"packs\": {\"\(id)\": {\"name\": \"level\", \(offer)}}}"
            let names = try? PackNames(parsing: Array(json.utf8), place: "test")
            #expect((names != nil) == isRead, "\(id)")
        }
    }

    @Test func allAreReadable() throws {
        let listed = try ListedPack(record(target(3), target(2), target(1)))
        #expect(versions(listed) == [3, 2, 1])
        #expect(listed.isComplete)
    }

    @Test func anotherVersionOfALaterFormatIsLeftOut() throws {
        let record = try record(target(3), target(2, format: 99), target(1))
        for listed in [
            try ListedPack(record), try ListedPack.readable(in: record, granting: TagGrants(to: [])),
        ] {
            #expect(versions(listed) == [3, 1])
            #expect(!listed.isComplete)
            #expect(listed.target == record)
        }
    }

    /// The newest readable version takes the place of the first, with the record of its own file.
    @Test func theFirstIsOfALaterFormat() throws {
        let record = try record(target(4, format: 99), target(3, format: 99), target(2), target(1))
        let error = #expect(throws: VaultError.self) { try ListedPack(record) }
        #expect(error?.needsNewerRelease == true)
        let listed = try ListedPack.readable(in: record, granting: TagGrants(to: []))
        #expect(versions(listed) == [2, 1])
        #expect(listed.target.hashes.sha256 == listed.pack.sha256)
    }

    @Test func noneIsReadable() throws {
        let record = try record(target(2, format: 99), target(1, format: 99))
        let error = #expect(throws: VaultError.self) {
            try ListedPack.readable(in: record, granting: TagGrants(to: []))
        }
        #expect(error?.needsNewerRelease == true)
    }

    /// Damage is no later format.
    @Test func aMalformedOtherIsRefused() throws {
        var broken = target(2)
        broken["hashes"] = nil
        let record = try record(target(3), broken)
        #expect(throws: VaultError.self) { try ListedPack(record) }
        #expect(throws: VaultError.self) { try ListedPack.readable(in: record, granting: TagGrants(to: [])) }
    }

    /// The files of all versions belong to the site, whatever their format.
    @Test func eachVersionHasItsFile() throws {
        let record = try record(target(3), target(2, format: 99), target(1))
        #expect(record.eachVersion.map(\.hashes.sha256?.hex) == [digest(3), digest(2), digest(1)])
    }
}
