import Foundation
import SystemPackage
import Testing

/// Vaults in which a command is killed, and what must hold afterwards.
struct KilledVault {
    let testSite: TestSite
    private let folder: TemporaryFolder
    private let readers: Readers
    private let trees: [Tree]

    /// Version 1 is published, and readers have seen it; the source is version 2.
    init() async throws {
        testSite = try await TestSite()
        folder = testSite.folder
        try folder.write("level/file", "version 1")
        let first = try Tree(folder["level"])
        try await testSite.publish("--pack", "level=\(folder["level"])")
        readers = try await Readers(of: testSite)
        try folder.write("level/file", "version 2")
        trees = [first, try Tree(folder["level"])]
    }

    /// Runs a command on a copy of the vault, checks what readers see, and runs it again.
    ///
    /// - Parameter refusal: what the command may answer once its work is done.
    func tryOut(
        _ command: [String], with arguments: [String] = [], through wrapper: [String],
        refusal: String? = nil, withPython: Bool
    ) async throws -> CommandResult {
        let hint = "\(command) \(arguments) through \(wrapper.suffix(2))"
        let round = try TemporaryFolder()
        try await Tool.run("cp", "-a", testSite.vault, round["vault"])
        try await Tool.run("ln", "-s", folder["level"], round["level"])
        let words = command + [round["vault"]] + arguments
        let result = try await Command.run(words, through: wrapper)
        try #require(result.exitCode == 0 || result.exitCode == 137, "\(result.errorText) \(hint)")
        try await readers.expectBelief(
            in: round["vault/site"], seeing: trees, withPython: withPython, hint)

        if result.exitCode != 0 {
            let again = try await Command.run(words)
            let isDone = refusal.map { again.exitCode == 64 && again.errorText.contains($0) } ?? false
            #expect(again.exitCode == 0 || isDone, "\(again.errorText) \(hint)")
        }
        try await Command.run("publish", round["vault"]).succeeded()
        let seen = try await readers.expectBelief(
            in: round["vault/site"], seeing: trees, withPython: withPython, hint)
        #expect(seen == 1, "\(hint)")
        try await expectNothingIsLeftOver(in: round, hint)
        return result
    }

    /// No unfinished files, nothing pending, nothing damaged, and nothing left to do.
    private func expectNothingIsLeftOver(in round: TemporaryFolder, _ hint: String) async throws {
        let names = try Tree(round["vault"]).entries.keys
        #expect(names.filter { $0.contains(".assetvault-") || $0.contains(".next.pem") } == [], "\(hint)")
        #expect(names.filter { $0.hasPrefix("pending/") } == [], "\(hint)")
        try await Command.run("audit", round["vault/site"]).succeeded()
        let before = try Tree(round["vault/site"])
        try await Command.run("publish", round["vault"]).succeeded()
        #expect(try Tree(round["vault/site"]) == before, "\(hint)")
    }
}
