import Foundation
import Testing

/// The example of the README is compiled beside this file; here it is compared with the README's text.
@Test func exampleOfTheReadmeIsTheOneThatCompiles() throws {
    let here = URL(filePath: #filePath).deletingLastPathComponent()
    let source = try String(contentsOf: here.appending(path: "ReadmeExample.swift"), encoding: .utf8)
    let readme = try String(
        contentsOf: here.deletingLastPathComponent().deletingLastPathComponent().appending(path: "README.md"),
        encoding: .utf8)
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    let begin = try #require(lines.firstIndex { $0.contains("README: begin") })
    let end = try #require(lines.firstIndex { $0.contains("README: end") })
    let example = lines[(begin + 1)..<end].map { $0.dropFirst(4) }.joined(separator: "\n")
    #expect(example.split(separator: "\n").count <= 10)
    #expect(readme.contains("import AssetVault\nimport Foundation\n\n" + example))
}
