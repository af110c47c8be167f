/// Arrow keys come as three: escape, a bracket and a letter.
struct ArrowKeys {
    private var seen = ""

    /// What a key means for the game; nothing, as long as it is not known.
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
