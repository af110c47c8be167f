import SealedPack
import Testing

@testable import AssetVault

/// Which packs become live together, by their tags.
@Suite struct PlannedSetTests {
    /// A pack: its ID, its tags, and what is to become of it.
    private enum Kind {
        case new, update, missingUpdate, missing
    }

    private func sets(
        _ packs: [(id: String, tags: [String], kind: Kind)], areTogether: Bool = false
    ) throws -> [String] {
        let changes = try packs.map { entry in
            PlannedSet.Change(
                pack: try pack(entry.id, tags: entry.tags),
                isUpdate: entry.kind == .update || entry.kind == .missingUpdate,
                comesNow: entry.kind == .new || entry.kind == .update)
        }
        return PlannedSet.sets(of: changes, areTogether: areTogether).map { set in
            let missing = set.missing.isEmpty ? "" : " without " + set.missing.map(\.id.description).joined()
            return set.packs.map(\.id.description).joined() + missing
        }
    }

    @Test func packsOfATag() throws {
        #expect(
            try sets([("a", ["one"], .update), ("b", ["two"], .update), ("c", ["one"], .update)]) == ["ac"])
        // Through a third one, in whatever order.
        #expect(
            try sets([("a", ["one"], .update), ("b", ["two"], .new), ("c", ["two", "one"], .update)]) == [
                "abc"
            ]
        )
        #expect(
            try sets([
                ("a", ["one"], .update), ("b", ["two"], .update), ("c", ["one"], .new), ("d", ["two"], .new),
            ]) == ["ac", "bd"])
    }

    @Test func packsThatAreAlone() throws {
        #expect(try sets([("a", ["one"], .update), ("b", [], .update), ("c", [], .update)]).isEmpty)
        // Nothing older is there that could be seen beside them.
        #expect(try sets([("a", ["one"], .new), ("b", ["one"], .new)]).isEmpty)
    }

    @Test func packsThatAreMissing() throws {
        #expect(try sets([("a", ["one"], .update), ("b", ["one"], .missingUpdate)]) == ["a without b"])
        #expect(try sets([("a", ["one"], .update), ("b", ["one"], .missing)]) == ["a without b"])
        #expect(try sets([("a", ["one"], .missingUpdate), ("b", ["one"], .missing)]).isEmpty)
    }

    @Test func aWholeSelection() throws {
        #expect(
            try sets([("a", ["one"], .new), ("b", [], .update), ("c", [], .new)], areTogether: true) == [
                "abc"
            ])
        #expect(try sets([("a", ["one"], .new)], areTogether: true).isEmpty)
    }
}
