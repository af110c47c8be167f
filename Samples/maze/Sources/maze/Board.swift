import AssetVault

/// A position in a maze.
struct Place: Hashable, Sendable {
    var x: Int
    var y: Int
}

/// The maze of a level: lines of equal length, `#` a wall, `*` a coin, `>` the exit.
struct Board: Sendable {
    static let start = Place(x: 1, y: 1)

    private enum Source: Sendable {
        case whole([UInt8])
        case inPlace(AssetReader)
    }

    let width: Int
    let height: Int
    private let source: Source

    init(whole bytes: [UInt8]) {
        width = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        height = bytes.count / (width + 1)
        source = .whole(bytes)
    }

    /// Reads only visible parts, on demand: of a sealed pack only the pieces around them are decrypted.
    init(inPlace reader: AssetReader) async throws(VaultError) {
        let beginning = try await reader.read(0..<min(reader.size, 4096))
        width = beginning.firstIndex(of: UInt8(ascii: "\n")) ?? beginning.count
        height = Int(reader.size) / (width + 1)
        source = .inPlace(reader)
    }

    /// A part of a line, clipped to the maze.
    func line(_ y: Int, _ columns: Range<Int>) async throws(VaultError) -> [UInt8] {
        guard (0..<height).contains(y) else { return [] }
        let range = columns.clamped(to: 0..<width)
        let start = y * (width + 1)
        switch source {
        case .whole(let bytes): return Array(bytes[(start + range.lowerBound)..<(start + range.upperBound)])
        case .inPlace(let reader):
            return try await reader.read(UInt64(start + range.lowerBound)..<UInt64(start + range.upperBound))
        }
    }

    func tile(at place: Place) async throws(VaultError) -> UInt8 {
        try await line(place.y, place.x..<(place.x + 1)).first ?? UInt8(ascii: "#")
    }

    /// The view around a position, with the player as `@`, without collected coins.
    func view(around place: Place, columns: Int, lines: Int, without taken: Set<Place>)
        async throws(VaultError) -> [String]
    {
        let left = max(0, min(place.x - columns / 2, width - columns))
        let top = max(0, min(place.y - lines / 2, height - lines))
        var view: [String] = []
        for y in top..<min(top + lines, height) {
            var line = try await line(y, left..<(left + columns))
            for x in line.indices where line[x] == UInt8(ascii: "*") {
                if taken.contains(Place(x: left + x, y: y)) { line[x] = UInt8(ascii: " ") }
            }
            if y == place.y { line[place.x - left] = UInt8(ascii: "@") }
            view.append(String(decoding: line, as: UTF8.self))
        }
        return view
    }
}
