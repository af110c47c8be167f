import AssetVault

/// The rules. Each call returns messages about what happened.
@MainActor final class Game {
    let packs: Packs
    let levels: [Level]
    private let file: SaveFile
    private(set) var journey: Journey
    private(set) var board: Board
    private(set) var isAtExit: Bool

    var level: Level { levels[journey.level] }
    /// Nil in the last level.
    var next: Level? { journey.level + 1 < levels.count ? levels[journey.level + 1] : nil }

    /// Resumes the last game: loaded packs need no network.
    init(_ packs: Packs, file: SaveFile) async throws(VaultError) {
        self.packs = packs
        self.file = file
        levels = try Level.all()
        journey = file.read()
        if journey.level >= levels.count { journey = Journey() }
        let level = levels[journey.level]
        await packs.update(besides: journey.place == Board.start ? nil : level.id)
        try await packs.prepare(level)
        board = try await packs.board(of: level)
        isAtExit = try await board.tile(at: journey.place) == UInt8(ascii: ">")
    }

    func introduction() async throws(VaultError) -> [String] {
        let how = journey.steps == 0 ? "" : ", after \(journey.steps) steps and with \(journey.coins) coins"
        return ["== \(level.id)\(how)", try await packs.story(of: level)]
    }

    /// One of w, a, s and d; other keys are ignored.
    func press(_ key: Character) async throws(VaultError) -> [String] {
        guard !isAtExit else { return [] }
        var place = journey.place
        switch key {
        case "w": place.y -= 1
        case "s": place.y += 1
        case "a": place.x -= 1
        case "d": place.x += 1
        default: return []
        }
        let tile = try await board.tile(at: place)
        guard tile != UInt8(ascii: "#") else { return [] }
        journey.place = place
        journey.steps += 1
        var messages: [String] = []
        if tile == UInt8(ascii: "*"), journey.taken.insert(place).inserted {
            journey.coins += 1
            messages = ["step \(journey.steps): coin \(journey.coins)"]
        }
        isAtExit = tile == UInt8(ascii: ">")
        if isAtExit { messages = ["step \(journey.steps): the exit of \(level.id)"] }
        try file.write(journey)
        return messages
    }

    /// Enters the next level, which must be ready.
    func advance() async throws(VaultError) -> [String] {
        guard let next else { return [] }
        board = try await packs.board(of: next)
        journey.enter(journey.level + 1)
        isAtExit = false
        try file.write(journey)
        return try await introduction()
    }

    func view(columns: Int, lines: Int) async throws(VaultError) -> [String] {
        try await board.view(
            around: journey.place, columns: columns, lines: lines, without: journey.taken)
    }
}
