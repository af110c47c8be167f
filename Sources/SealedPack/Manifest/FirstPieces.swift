import VaultBase

/// The pieces of a pack that its publisher wants to be downloaded before the others: those of the files that are needed first. The
/// order of the files in the pack is always that of their paths, so another choice changes no byte of the pack.
public struct FirstPieces: Sendable, Hashable {
    /// Each costs a request, and bytes of the metadata.
    package static let limit = 256

    /// In the order of their download; not empty, within the pack, and no piece in two of them.
    package private(set) var stretches: [Range<Int>] = []

    public init() {}

    /// The number of pieces.
    public var count: Int { stretches.reduce(0) { $0 + $1.count } }
}

extension FirstPieces {
    /// Adds a piece; false where there are too many stretches.
    ///
    /// - Parameter bridging: the pieces before it that are as well downloaded with it, since a request would cost more.
    package mutating func add(_ piece: Int, bridging gap: Int = 0) -> Bool {
        if stretches.contains(where: { $0.contains(piece) }) { return true }
        if let last = stretches.last, last.upperBound <= piece, piece - gap <= last.upperBound {
            let added = last.upperBound..<(piece + 1)
            if !stretches.contains(where: { $0.overlaps(added) }) {
                stretches[stretches.count - 1] = last.lowerBound..<added.upperBound
                return true
            }
        }
        guard stretches.count < Self.limit else { return false }
        stretches.append(piece..<(piece + 1))
        return true
    }

    /// The member of a manifest: for each stretch its first piece and their number; nil for none.
    var json: JSONValue? {
        guard !stretches.isEmpty else { return nil }
        return .array(
            stretches.map { .array([.integer(Int64($0.lowerBound)), .integer(Int64($0.count))]) })
    }

    init(parsing values: [JSONValue], of pieceCount: UInt32, _ place: String) throws(VaultError) {
        guard values.count <= Self.limit else { throw Self.refusal(place) }
        for value in values {
            guard case .array(let pair) = value, pair.count == 2, case .integer(let start) = pair[0],
                case .integer(let count) = pair[1], (0..<Int64(pieceCount)).contains(start),
                (1...(Int64(pieceCount) - start)).contains(count)
            else { throw Self.refusal(place) }
            stretches.append(Int(start)..<Int(start + count))
        }
        let ordered = stretches.sorted { $0.lowerBound < $1.lowerBound }
        for (stretch, next) in zip(ordered, ordered.dropFirst()) where stretch.overlaps(next) {
            throw VaultError(
                .corrupt, "\"first\" names a piece twice", at: place,
                remedy: "get the manifest again, or report it to the publisher")
        }
    }

    private static func refusal(_ place: String) -> VaultError {
        VaultError(
            .corrupt, "\"first\" names pieces that the pack does not have", at: place,
            remedy: "get the manifest again, or report it to the publisher")
    }
}
