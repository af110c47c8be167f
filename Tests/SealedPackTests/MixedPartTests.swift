import PackSealing
import SealedPack
import Testing
import VaultErrors

/// Parts of a pack in the wrong place, and parts of other packs: each authentic, but not here.
@Suite struct MixedPartTests {
    private let key: ContentKey
    private let sealed: Sealed
    private let content: [UInt8]
    private let place: PackPlace

    init() async throws {
        key = try await TestKey().contentKey()
        sealed = try await seal(try Source.small(), key: key)
        content = try Source.small().content
        place = try PackPlace()
    }

    /// Refused with the footer that it has and with one that fits, with a manifest and without.
    private func expectRefusal(
        _ parts: PackParts, _ category: VaultError.Category = .corrupt, _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        for bytes in [parts.bytes, parts.refooted] where bytes != sealed.bytes {
            await place.expectRefusal(
                bytes, with: key, content: content, category, comment, sourceLocation: sourceLocation)
            await place.expectRefusal(
                bytes, as: sealed.manifest.json, with: key, content: content, .corrupt, comment,
                sourceLocation: sourceLocation)
        }
    }

    @Test func piecesSwapped() async throws {
        var parts = sealed.parts
        parts.pieces.swapAt(0, 1)
        await expectRefusal(parts)
        parts.rewriteIndex()
        await expectRefusal(parts)
    }

    @Test func piecesDropped() async throws {
        for number in sealed.parts.pieces.indices {
            var parts = sealed.parts
            parts.pieces.remove(at: number)
            await expectRefusal(parts)
            parts.rewriteIndex()
            await expectRefusal(parts)
        }
    }

    @Test func piecesRepeated() async throws {
        for number in sealed.parts.pieces.indices {
            var parts = sealed.parts
            parts.pieces.insert(parts.pieces[number], at: number)
            await expectRefusal(parts)
            parts.rewriteIndex()
            await expectRefusal(parts)
        }
    }

    @Test func partsDroppedRepeatedAndSwapped() async throws {
        let parts = sealed.parts
        let footer = try #require(parts.footer)
        let whole = [parts.header, parts.pieces.flatMap { $0 }, parts.index, parts.catalog, footer]
        for part in whole.indices {
            var dropped = whole
            dropped.remove(at: part)
            await place.expectRefusal(
                dropped.flatMap { $0 }, with: key, content: content, .corrupt, "no \(part)")
            var repeated = whole
            repeated.insert(whole[part], at: part)
            await place.expectRefusal(
                repeated.flatMap { $0 }, with: key, content: content, .corrupt, "2 x \(part)")
            for second in whole.indices where second > part {
                var swapped = whole
                swapped.swapAt(part, second)
                await place.expectRefusal(
                    swapped.flatMap { $0 }, with: key, content: content, .corrupt, "\(part) and \(second)")
            }
        }
    }

    /// Every mixture of the parts of two packs: the next version, another pack under the same content key, and
    /// another pack under another key.
    @Test(arguments: ["version", "id", "content", "key"])
    func partsOfAnotherPack(_ difference: String) async throws {
        let otherKey = difference == "key" ? try await TestKey(8).contentKey() : key
        let other = try await seal(
            difference == "content" ? try Source.small(text: "other") : try Source.small(), key: otherKey,
            id: difference == "id" ? "levels/two" : "levels/one", .exactly(difference == "version" ? 2 : 1))
        let (mine, theirs) = (sealed.parts, other.parts)
        for choice in 1..<31 {
            var parts = mine
            if choice & 1 != 0 { parts.header = theirs.header }
            if choice & 2 != 0 { parts.pieces = theirs.pieces }
            if choice & 4 != 0 { parts.index = theirs.index }
            if choice & 8 != 0 { parts.catalog = theirs.catalog }
            if choice & 16 != 0 { parts.footer = theirs.footer }
            for bytes in [parts.bytes, parts.refooted] where bytes != sealed.bytes && bytes != other.bytes {
                // A footer that can't be that of the file is seen before the key is.
                let layoutFits = bytes.suffix(128).prefix(32) == parts.refooted.suffix(128).prefix(32)
                let isOtherKey = parts.header != mine.header && layoutFits
                await place.expectRefusal(
                    bytes, with: key, content: content, isOtherKey ? .key : .corrupt, "\(choice)")
                await place.expectRefusal(
                    bytes, as: sealed.manifest.json, with: key, content: content, .corrupt, "\(choice)")
            }
        }
        // All of it is another pack: that it is not the one wanted, only the manifest can tell.
        await place.expectRefusal(other.bytes, as: sealed.manifest.json, with: key, content: content)
        if difference != "key" { _ = try await place.read(other.bytes, with: key) }
    }

    /// One piece of the next version in the place of its predecessor, with everything else as it was.
    @Test func aPieceOfAnotherVersion() async throws {
        let next = try await seal(try Source.small(text: "next!"), key: key, .exactly(2))
        let number = try #require(
            zip(sealed.parts.pieces, next.parts.pieces).enumerated().first { $1.0 != $1.1 }?.offset)
        var parts = sealed.parts
        parts.pieces[number] = next.parts.pieces[number]
        await expectRefusal(parts)
        parts.rewriteIndex()
        await expectRefusal(parts)
    }
}
