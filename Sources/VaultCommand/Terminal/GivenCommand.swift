/// The command line of this run.
enum GivenCommand {
    /// The same line, changed into one to try next.
    ///
    /// - Parameters:
    ///   - name: another subcommand to put in the place of the given one.
    ///   - dropped: words to leave out, each once.
    ///   - added: words to put behind the others.
    static func line(
        as name: String? = nil, without dropped: [String] = [], adding added: [String] = []
    ) -> String {
        var words = Array(CommandLine.arguments.dropFirst())
        if let name, !words.isEmpty { words[0] = name }
        for word in dropped {
            if let index = words.lastIndex(of: word) { words.remove(at: index) }
        }
        return line(of: words + added)
    }

    /// A line to try, quoted for a shell.
    static func line(of words: [String]) -> String {
        (["assetvault"] + words.map(quoted)).joined(separator: " ")
    }

    /// What stands behind `--`: a program and its arguments.
    static var program: [String] { Array(CommandLine.arguments.drop { $0 != "--" }.dropFirst()) }

    /// Quoted for a shell.
    private static func quoted(_ word: String) -> String {
        let isPlain = word.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B...0x2F, 0x3A, 0x3D, 0x40, 0x5F, 0x25: true
            default: false
            }
        }
        return isPlain && !word.isEmpty ? word : "'\(word.replacing("'", with: "'\\''"))'"
    }
}
