import SealedPack
import SystemPackage
import Testing
import VaultAuthoring
import VaultBase

@testable import VaultCommand

@Suite struct ReportTests {
    @Test func jsonOfACleanSite() async throws {
        let vault = try await TestVault.published()
        let report = try await vault.audit(keyed: true)
        let json = report.json
        #expect(
            json.keys == [
                "findings", "format", "ok", "packs", "pinned", "problems", "roles", "subject", "trust",
                "verifiedBytes",
            ])
        #expect(json["format"] == 1)
        #expect(json["ok"] == true)
        #expect(json["pinned"] == true)
        #expect(json["trust"] == "pinned")
        #expect(json["problems"] == 0)
        #expect(json["subject"] == .string(vault.site.string))
        #expect(json["verifiedBytes"] == .integer(Int64(report.verifiedBytes)))
        #expect(json["findings"] == [])
        let roles = try json.array("roles", at: "report")
        #expect(
            roles.first == [
                "role": "root", "version": 1, "expires": "2032-04-30T12:00:00Z", "daysLeft": 365,
            ])
        let pack = try await vault.packs()[0]
        #expect(
            try json.array("packs", at: "report").first == [
                "place": .string(try vault.file(of: pack).string), "ok": true, "id": "levels/one",
                "version": 1,
                "length": .integer(Int64(pack.length)), "pieces": .integer(Int64(pack.pieceCount)),
                "verifiedEntries": 3, "keys": .texts(pack.slots.map(\.keyID)), "findings": [],
            ])
    }

    @Test func jsonOfAFinding() async throws {
        let vault = try await TestVault.published()
        let pack = try await vault.packs()[0]
        let place = try vault.file(of: pack)
        try vault.flipByte(of: place, at: 64)
        let json = try await vault.audit(pinned: false).json
        #expect(json["ok"] == false)
        #expect(json["pinned"] == false)
        #expect(json["problems"] == 1)
        let packs = try json.array("packs", at: "report")
        let findings = try packs.first?.asObject(at: "pack").array("findings", at: "pack")
        #expect(
            findings == [
                [
                    "severity": "error", "category": "corrupt", "code": "damaged",
                    "place": .string(place.string),
                    "problem": "damaged pieces (1): number 0",
                    "remedy":
                        "repair it from a host of the site, or remove it before the publisher's copy is uploaded again (assetvault repair \(vault.site) --from URL)",
                ]
            ])
    }

    @Test func textEndsWithTheVerdict() async throws {
        let vault = try await TestVault.published()
        let clean = try await vault.audit()
        #expect(clean.lines.last == "ok: 2 packs, \(clean.verifiedBytes) bytes verified")
        try vault.flipByte(of: try vault.file(of: try await vault.packs()[0]), at: 64)
        let one = try await vault.audit().lines
        #expect(one.last == "1 problem")
        #expect(one.contains { $0.hasPrefix("BAD  levels/one  version 1") })
        #expect(one.contains("ok  1 pack"))
        try vault.flipByte(of: try vault.file(of: try await vault.packs()[1]), at: 64)
        #expect(try await vault.audit().lines.last == "2 problems")
    }
}
