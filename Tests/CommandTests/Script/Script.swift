import Foundation
import SystemPackage
import Testing

/// A text of commands with what each of them must print and how it must end, and the files that they need.
///
/// The form is that of Go's `testscript`: lines of commands, then files, each below a line `-- NAME --`. Lines before the
/// first `== TITLE` are the set-up. Each section below a title begins with the folder that the set-up left.
/// `Scripts/README.md` lists the commands.
struct Script: Sendable, CustomTestStringConvertible {
    /// One command line, its words not yet split.
    struct Line: Sendable {
        let text: String
        let number: Int
    }

    struct Section: Sendable {
        let title: String
        var lines: [Line] = []
    }

    /// The path below `Scripts`, without `.txt`.
    let name: String
    let path: FilePath
    private(set) var setUp: [Line] = []
    private(set) var sections: [Section] = []
    private(set) var files: [(name: String, content: String)] = []

    var testDescription: String { name }

    init(name: String, path: FilePath) throws {
        self.name = name
        self.path = path
        var pending: Line?
        for (index, text) in try String(contentsOfFile: path.string, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).enumerated()
        {
            if let file = Self.heading(text, between: "-- ", and: " --") {
                files.append((file, ""))
            } else if !files.isEmpty {
                files[files.count - 1].content += text + "\n"
            } else if let title = Self.heading(text, between: "== ", and: "") {
                sections.append(Section(title: title))
            } else {
                let part = text.trimmingCharacters(in: .whitespaces)
                let start = pending ?? Line(text: "", number: index + 1)
                if part.hasSuffix("\\") {
                    pending = Line(text: start.text + part.dropLast(), number: start.number)
                } else {
                    pending = nil
                    add(Line(text: start.text + part, number: start.number))
                }
            }
        }
        // The text's last newline ends its last line.
        if let last = files.indices.last { files[last].content.removeLast() }
    }

    private mutating func add(_ line: Line) {
        if line.text.isEmpty || line.text.hasPrefix("#") { return }
        if let last = sections.indices.last { sections[last].lines.append(line) } else { setUp.append(line) }
    }

    private static func heading(_ text: Substring, between start: String, and end: String) -> String? {
        guard text.hasPrefix(start), text.hasSuffix(end), text.count > start.count + end.count else {
            return nil
        }
        return String(text.dropFirst(start.count).dropLast(end.count))
    }
}

extension Script {
    private static let tests = FilePath(#filePath).removingLastComponent().removingLastComponent()
    /// The folder of the samples.
    static let samples = tests.removingLastComponent().removingLastComponent().appending("Samples")

    /// Every script, each of which must be readable; with `ASSETVAULT_SCRIPT` the one of that name, or those in the folder of that name.
    static func all() throws -> [Script] {
        let folder = tests.appending("Scripts")
        let wanted = ProcessInfo.processInfo.environment["ASSETVAULT_SCRIPT"]
        let names = FileManager.default.subpaths(atPath: folder.string) ?? []
        return try names.filter { $0.hasSuffix(".txt") }.sorted().compactMap { file in
            let name = String(file.dropLast(".txt".count))
            if let wanted, name != wanted, !name.hasPrefix("\(wanted)/") { return nil }
            return try Script(name: name, path: folder.appending(file))
        }
    }
}
