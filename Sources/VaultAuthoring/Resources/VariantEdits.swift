import PackSources
import VaultContent
import VaultErrors

/// What rules change in a path so that the variants of a file have one.
struct VariantEdits: Sendable {
    /// Where devices see the file.
    var shown: [PathEdit] = []
    /// Marks for the values of traits.
    var marks: [PathEdit] = []

    /// Adds what another rule changes: rules have no order of their own. Throws `.usage` where both map the same part of a path.
    mutating func add(_ other: VariantEdits, of path: EntryPath, at place: String) throws(VaultError) {
        for edit in other.shown {
            guard !shown.contains(where: { edit.collides(with: $0) }) else {
                throw VaultError(
                    .usage, "two rules map the same part of '\(path)' by \"as\"", at: place,
                    remedy: "let one rule do it")
            }
            shown.append(edit)
        }
        for edit in other.marks where !marks.contains(where: { edit.collides(with: $0) }) {
            marks.append(edit)
        }
        marks.removeAll { mark in shown.contains { mark.collides(with: $0) } }
    }
}

extension PathEdit {
    /// Marks in place of words that a path has exactly once.
    static func marking(_ words: [(text: String, mark: [UInt8])], in path: [UInt8]) -> [PathEdit] {
        words.compactMap { word in
            let found = path.ranges(ofWord: Array(word.text.utf8))
            return found.count == 1 ? found.first.map { PathEdit(range: $0, bytes: word.mark) } : nil
        }
    }
}
