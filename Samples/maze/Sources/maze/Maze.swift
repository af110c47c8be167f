import AssetVault
import Glibc

@main @MainActor struct Maze {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.isEmpty || arguments.contains("--help") { return Console.answer(Options.usage) }
        do throws(VaultError) {
            try await play(Options(arguments))
        } catch {
            Console.note("maze: \(error)")
            exit(1)
        }
    }

    private static func play(_ options: Options) async throws(VaultError) {
        let packs = try Packs(options.configuration)
        let game = try await Game(packs, file: options.save)
        if options.moves == nil, let terminal = Terminal() {
            let play = TerminalPlay(game, on: terminal, keys: options.keys)
            return try await play.run()
        }
        let moves: FileDescriptor
        do {
            moves = try options.moves.map { try FileDescriptor.open($0, .readOnly) } ?? .standardInput
        } catch {
            throw VaultError(
                .missing, "the moves can't be read", at: options.moves?.string ?? "", remedy: "check --moves")
        }
        try await LinePlay(game: game, pace: options.pace, patience: options.patience)
            .run(Console.keys(from: moves))
    }
}
