import AssetVault

/// The game for people: keys and pack updates come in one stream, and the screen is drawn after each.
@MainActor final class TerminalPlay {
    private enum Event: Sendable {
        case key(Character)
        case update(StatusUpdate)
        case prepared(PackID, VaultError?)
        case keysEnded
    }

    private let game: Game
    private let terminal: Terminal
    private let keyFolder: KeyFolder
    private let events: AsyncStream<Event>
    private let tell: AsyncStream<Event>.Continuation
    private var progress = Progress()
    private var messages: [String] = []
    /// The path of a key file that is being typed.
    private var typed: String?
    private var arrows = ArrowKeys()
    private var preparing: Task<Void, Never>?
    private var isReady = false

    init(_ game: Game, on terminal: Terminal, keys: FilePath) {
        self.game = game
        self.terminal = terminal
        keyFolder = KeyFolder(path: keys)
        (events, tell) = AsyncStream.makeStream()
    }

    func run() async throws(VaultError) {
        defer { terminal.restore() }
        let client = game.packs.client
        let updates = client.statusUpdates
        let sources = [
            Task { [tell] in
                for await key in Console.keys(from: .standardInput) { tell.yield(.key(key)) }
                tell.yield(.keysEnded)
            },
            Task { [tell] in for await update in updates { tell.yield(.update(update)) } },
        ]
        defer { for source in sources { source.cancel() } }
        messages = try await game.introduction()
        prepareNext()
        try await draw()
        for await event in events {
            guard try await take(event) else { break }
            if game.isAtExit, isReady {
                messages = try await game.advance()
                prepareNext()
            }
            try await draw()
        }
        preparing?.cancel()
    }

    /// False when the game is over.
    private func take(_ event: Event) async throws(VaultError) -> Bool {
        switch event {
        case .update(let update): _ = progress.take(update)
        case .prepared(let id, let error):
            guard id == game.next?.id else { break }
            isReady = error == nil
            // A key may appear at any time, so the gate keeps checking.
            if let error, error.category != .key { messages = ["\(error)", "r tries again"] }
        case .keysEnded: return false
        case .key(let key) where typed != nil: await type(key)
        case .key("q"), .key("\u{3}"), .key("\u{4}"): return false
        case .key("k"): typed = ""
        case .key("r"): prepareNext()
        case .key(let key):
            let news = try await game.press(arrows.take(key))
            if !news.isEmpty { messages = news }
        }
        return true
    }

    /// The next level is prepared while this one is played, and waits for its key until the game ends.
    private func prepareNext() {
        preparing?.cancel()
        isReady = false
        guard let level = game.next else { return }
        preparing = Task { [tell, packs = game.packs] in
            do throws(VaultError) {
                try await packs.prepare(level, patience: .seconds(86_400))
                tell.yield(.prepared(level.id, nil))
            } catch {
                if !Task.isCancelled { tell.yield(.prepared(level.id, error)) }
            }
        }
    }

    private func type(_ key: Character) async {
        switch key {
        case "\r", "\n":
            do throws(VaultError) {
                try await keyFolder.take(FilePath(typedPath))
                messages = ["the key is yours"]
            } catch {
                messages = ["\(error)"]
            }
            typed = nil
        case "\u{1B}", "\u{3}": typed = nil
        case "\u{7F}", "\u{8}": _ = typed?.popLast()
        case let key where key >= " ": typed?.append(key)
        default: break
        }
    }

    /// Keys are single bytes; a path may hold letters of several.
    private var typedPath: String {
        String(
            decoding: (typed ?? "").unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, as: UTF8.self)
    }

    private func draw() async throws(VaultError) {
        let size = terminal.size
        var lines = ["\(game.level.id)   step \(game.journey.steps)   coins \(game.journey.coins)", ""]
        lines += try await game.view(columns: max(8, size.columns - 1), lines: max(3, size.lines - 8))
        lines += ["", progress.line ?? ""] + messages
        if game.isAtExit { lines.append(gate) }
        lines.append(typed == nil ? "w a s d move   k use a key file   q quit" : "key file: \(typedPath)_")
        terminal.show(lines.map { String($0.prefix(max(8, size.columns - 1))) })
    }

    /// The message at the exit.
    private var gate: String {
        guard let next = game.next else { return "the end: you have found all there is" }
        return next.form == .sealed
            ? "the gate to \(next.id) is locked: k takes a key file; so does the folder \(keyFolder.path)"
            : "the way to \(next.id) is still being built"
    }
}
