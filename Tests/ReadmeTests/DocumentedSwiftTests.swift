import Foundation
import Testing

/// The Swift of the documents is what an app can compile that imports the products and nothing else.
@Suite(.timeLimit(.minutes(5))) struct DocumentedSwiftTests {
    private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let package = tests.deletingLastPathComponent()

    /// Each block is compiled as the body of a function, beside what the documents presume (`Presumed.swift`).
    @Test func everyBlockCompiles() throws {
        let blocks = try Self.documents().flatMap(SwiftBlock.all)
        for document in ["README.md", "Requests.md", "Reading.md", "LifeOfAPack.md", "ResourceRequest.swift"]
        {
            #expect(blocks.contains { $0.document.lastPathComponent == document }, "\(document)")
        }
        let output = try Self.typecheck(blocks.enumerated().map { $1.source(named: "block\($0)") })
        #expect(output.isEmpty, "\(output)")
    }

    @Test func aBlockThatDoesNotCompileIsFound() throws {
        let block = SwiftBlock(
            document: Self.package.appending(path: "X.md"), line: 7, lines: ["client.fetsh()"])
        let output = try Self.typecheck([block.source(named: "block")])
        #expect(output.contains("X.md:7") && output.contains("fetsh"), "\(output)")
    }

    /// It is to be read at a glance.
    @Test func theExampleOfTheReadmeIsShort() throws {
        let example = try #require(try SwiftBlock.all(in: Self.package.appending(path: "README.md")).first)
        #expect(example.lines.filter { !$0.isEmpty && !$0.hasPrefix("import ") }.count <= 10)
    }

    /// All documents, and the sources of the products, whose documentation has examples.
    private static func documents() throws -> [URL] {
        let files = try #require(FileManager.default.enumerator(at: package, includingPropertiesForKeys: nil))
        return files.compactMap { $0 as? URL }.filter { url in
            let path = url.path(percentEncoded: false)
            guard !path.contains("/.build") else { return false }
            return path.hasSuffix(".md") || path.hasSuffix(".swift") && path.contains("/Sources/AssetVault")
        }
    }

    /// What the compiler says of some sources; empty where all is fine.
    private static func typecheck(_ sources: [String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "documented-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var files = [tests.appending(path: "ReadmeTests/Presumed.swift").path(percentEncoded: false)]
        for (index, source) in sources.enumerated() {
            let file = folder.appending(path: "block\(index).swift")
            try Data(source.utf8).write(to: file)
            files.append(file.path(percentEncoded: false))
        }
        let binaries = URL(
            filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        ).deletingLastPathComponent().path(percentEncoded: false)
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments =
            [tests.appending(path: "typecheck.sh").path(percentEncoded: false), binaries] + files
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text : "exit code \(process.terminationStatus)\n\(text)"
    }
}
