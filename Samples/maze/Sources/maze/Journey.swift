import AssetVault
import Foundation

/// How far the player has come: saved after each step, so that a killed game can resume.
struct Journey: Sendable, Equatable {
    /// Counts from 0.
    var level = 0
    var place = Board.start
    var steps = 0
    var coins = 0
    /// The positions of collected coins in this level.
    var taken: Set<Place> = []

    mutating func enter(_ level: Int) {
        self.level = level
        place = Board.start
        taken = []
    }
}

/// A small text file that is replaced atomically.
struct SaveFile: Sendable {
    let path: FilePath

    /// A new journey if there is no valid one yet.
    func read() -> Journey {
        guard let text = try? String(contentsOf: URL(filePath: path.string), encoding: .utf8) else {
            return Journey()
        }
        let numbers = text.split(separator: " ").compactMap { Int($0) }
        guard numbers.count >= 5, numbers.count % 2 == 1, numbers.allSatisfy({ $0 >= 0 }) else {
            return Journey()
        }
        let places = stride(from: 5, to: numbers.count, by: 2).map {
            Place(x: numbers[$0], y: numbers[$0 + 1])
        }
        return Journey(
            level: numbers[0], place: Place(x: numbers[1], y: numbers[2]), steps: numbers[3],
            coins: numbers[4], taken: Set(places))
    }

    func write(_ journey: Journey) throws(VaultError) {
        var numbers = [journey.level, journey.place.x, journey.place.y, journey.steps, journey.coins]
        for place in journey.taken.sorted(by: { ($0.y, $0.x) < ($1.y, $1.x) }) {
            numbers += [place.x, place.y]
        }
        let text = numbers.map(String.init).joined(separator: " ")
        do {
            try Data(text.utf8).write(to: URL(filePath: path.string), options: .atomic)
        } catch {
            throw VaultError(
                .io, "the journey can't be saved", at: path.string,
                remedy: "free some space, or make it writable")
        }
    }
}
