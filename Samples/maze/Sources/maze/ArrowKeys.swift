/// An arrow key arrives as three characters: escape, a bracket and a letter.
struct ArrowKeys {
    private var seen = ""

    /// The game's key for a terminal key; nothing while a sequence is incomplete.
    mutating func take(_ key: Character) -> Character {
        switch (seen, key) {
        case (_, "\u{1B}"):
            seen = "\u{1B}"
            return " "
        case ("\u{1B}", "["), ("\u{1B}", "O"):
            seen.append("[")
            return " "
        case ("\u{1B}[", let key):
            seen = ""
            return ["A": "w", "B": "s", "C": "d", "D": "a"][key] ?? " "
        default:
            seen = ""
            return key
        }
    }
}
