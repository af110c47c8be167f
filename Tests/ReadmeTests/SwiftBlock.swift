import Foundation

/// A block of Swift in a document, or in the documentation of a declaration.
struct SwiftBlock {
    let document: URL
    /// Of its first line in the document, from 1.
    let line: Int
    let lines: [String]

    static func all(in document: URL) throws -> [SwiftBlock] {
        let isSource = document.pathExtension == "swift"
        let text = try String(contentsOf: document, encoding: .utf8)
        var found: [SwiftBlock] = []
        var open: (line: Int, lines: [String])?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            var line = String(line)
            if isSource {
                let comment = line.drop { $0 == " " }
                guard comment.hasPrefix("///") else { continue }
                line = String(comment.dropFirst(comment.hasPrefix("/// ") ? 4 : 3))
            }
            if let block = open {
                if line.hasPrefix("```") {
                    found.append(SwiftBlock(document: document, line: block.line, lines: block.lines))
                    open = nil
                } else {
                    open?.lines.append(line)
                }
            } else if line == "```swift" {
                open = (index + 2, [])
            }
        }
        return found
    }

    /// A source file with the block as the body of a function. The compiler names the lines of the document.
    func source(named name: String) -> String {
        let imports = lines.filter { $0.hasPrefix("import ") }
        let body = lines.map { $0.hasPrefix("import ") ? "" : $0 }
        return
            (["import AssetVault", "import AssetVaultFoundation", "import Foundation"] + imports + [
                "func \(name)() async throws {",
                "#sourceLocation(file: \"\(document.lastPathComponent)\", line: \(line))",
            ] + body + ["#sourceLocation()"] + uses + ["}", ""]).joined(separator: "\n")
    }

    /// Uses what the block declares for the reader, which would be warned of as unused.
    private var uses: [String] {
        lines.compactMap { line in
            if let match = line.firstMatch(of: /^async let (\w+)/) { return "_ = await \(match.1)" }
            return line.firstMatch(of: /^(?:let|var) (\w+)/).map { "_ = \($0.1)" }
        }
    }
}
