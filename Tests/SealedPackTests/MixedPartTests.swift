import SealedPack
import Testing
import VaultAuthoring
import VaultBase

/// Authentic parts of a pack at wrong offsets, and parts of other packs.
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

    /// Expects refusal with its own and with a matching footer, with and without a manifest.
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

    @Test func swappedPiecesAreRefused() async throws {
        var parts = sealed.parts
        parts.pieces.swapAt(0, 1)
        await expectRefusal(parts)
        parts.rewriteIndex()
        await expectRefusal(parts)
    }

    @Test func missingPiecesAreRefused() async throws {
        for number in sealed.parts.pieces.indices {
            var parts = sealed.parts
            parts.pieces.remove(at: number)
            await expectRefusal(parts)
            parts.rewriteIndex()
            await expectRefusal(parts)
        }
    }

    @Test func repeatedPiecesAreRefused() async throws {
        for number in sealed.parts.pieces.indices {
            var parts = sealed.parts
            parts.pieces.insert(parts.pieces[number], at: number)
            await expectRefusal(parts)
            parts.rewriteIndex()
            await expectRefusal(parts)
        }
    }

    @Test func missingRepeatedAndSwappedPartsAreRefused() async throws {
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

    /// Every mixture of the parts of two packs: the next version, another pack with the same content key, another pack
    /// with another key.
    @Test(arguments: ["version", "id", "content", "key"])
    func partsOfAnotherPackAreRefused(_ difference: String) async throws {
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
        // A complete other pack is refused only by the manifest.
        await place.expectRefusal(other.bytes, as: sealed.manifest.json, with: key, content: content)
        if difference != "key" { _ = try await place.read(other.bytes, with: key) }
    }

    /// One piece of the next version instead of the previous one.
    @Test func pieceOfAnotherVersionIsRefused() async throws {
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
