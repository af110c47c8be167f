import Foundation
import SystemPackage
import Testing

/// Processes that are ended during their work.
@Suite(.timeLimit(.minutes(10))) struct TerminationTests {
    let samplePack: SamplePack
    let place: String
    init() throws {
        samplePack = try SamplePack()
        place = try samplePack.folder.makeFolder("place")
    }

    /// The work, and the system call at which it is stopped.
    struct Moment: Sendable {
        let work: String
        let call: String
        var number = 1
        /// Only now others may see what was made.
        var isSettled = false

        static let inTheMiddle = [
            Moment(work: "seal", call: "write", number: 3),
            Moment(work: "seal", call: "fsync", isSettled: true),
            Moment(work: "archive", call: "pwrite64", number: 2),
            Moment(work: "archive", call: "fsync", isSettled: true),
            // Counted for each thread, and several write.
            Moment(work: "open", call: "pwrite64"),
            Moment(work: "open", call: "syncfs", isSettled: true),
            Moment(work: "tar", call: "fsync", isSettled: true),
        ]
        static let atTheEnd = [
            Moment(work: "seal", call: "renameat2", isSettled: true),
            Moment(work: "open", call: "renameat", isSettled: true),
            Moment(work: "tar", call: "renameat2", isSettled: true),
        ]
    }

    private func command(_ work: String) async throws -> [String] {
        try await samplePack.seal()
        let output = "\(place)/out"
        switch work {
        case "seal": return ["seal", samplePack.level, "-o", output] + samplePack.keys
        case "archive":
            let archive = samplePack.folder["level.tar"]
            try await Tool.run("tar", "cf", archive, "-C", samplePack.level, ".")
            return ["seal", archive, "-o", output] + samplePack.keys
        case "open": return ["open", samplePack.pack, "-o", output] + samplePack.keys
        default: return ["open", samplePack.pack, "--tar", output] + samplePack.keys
        }
    }

    /// Sends the signal while the command is stopped in a system call.
    private func expectCleanEnd(by signal: Int32, in moment: Moment) async throws {
        let command = try await command(moment.work)
        try await StoppedCommand.expectEnd(
            of: command, by: signal, in: moment.call, number: moment.number, notesIn: samplePack.folder
        ) { try !samplePack.folder.names(in: "place").isEmpty }
    }

    @Test(arguments: Moment.inTheMiddle) func sigtermLeavesNothing(moment: Moment) async throws {
        try await expectCleanEnd(by: SIGTERM, in: moment)
        #expect(try samplePack.folder.names(in: "place") == [])
    }

    @Test(arguments: Moment.inTheMiddle) func sigintLeavesNothing(moment: Moment) async throws {
        try await expectCleanEnd(by: SIGINT, in: moment)
        #expect(try samplePack.folder.names(in: "place") == [])
    }

    @Test func sighupLeavesNothing() async throws {
        try await expectCleanEnd(by: SIGHUP, in: Moment(work: "seal", call: "fsync"))
        #expect(try samplePack.folder.names(in: "place") == [])
    }

    @Test func anEmptyOutputFolderStaysEmpty() async throws {
        try samplePack.folder.makeFolder("place/out")
        let command = try await command("open")
        let wrapper = Sandbox.injecting("signal=KILL", into: "syncfs", number: 1)
        #expect(try await Command.run(command, through: wrapper).exitCode == 128 + SIGKILL)
        #expect(try samplePack.folder.names(in: "place/out") == [])
    }

    /// SIGKILL leaves only scratch files, and the work can be done again.
    @Test(arguments: Moment.inTheMiddle + Moment.atTheEnd) func aKillLeavesNothingFinal(moment: Moment)
        async throws
    {
        let command = try await command(moment.work)
        let wrapper = Sandbox.injecting("signal=KILL", into: moment.call, number: moment.number)
        let result = try await Command.run(command, through: wrapper)
        #expect(result.exitCode == 128 + SIGKILL)
        #expect(result.output == [])
        // The manifest is renamed after its pack, so a manifest always has a pack.
        for name in try samplePack.folder.names(in: "place") where name != "out.json.next" {
            #expect(name.hasPrefix(".assetvault-") && name.hasSuffix(".tmp"), "\(name)")
            let permissions = try samplePack.folder.permissions("place/\(name)") ?? 0
            #expect([0o600, 0o700].contains(permissions) || moment.isSettled, "\(name) \(permissions)")
        }
        try await Command.run(command).succeeded()
    }

    /// Killed between the names of pack and manifest, also where both replace others.
    @Test(arguments: [false, true]) func aPackUnderItsFinalNameOpens(replacing: Bool) async throws {
        let command = try await command("seal")
        if replacing { try await Command.run(command).succeeded() }
        let wrapper = Sandbox.injecting("signal=KILL", into: "renameat", number: replacing ? 3 : 2)
        let result = try await Command.run(command + (replacing ? ["--force"] : []), through: wrapper)
        #expect(result.exitCode == 128 + SIGKILL)
        #expect(try samplePack.folder.names(in: "place").contains("out"))
        #expect(try samplePack.folder.exists("place/out.json") == replacing)
        try await samplePack.open("\(place)/out", into: "\(place)/opened").succeeded()
        try await expectSameTree(samplePack.level, "\(place)/opened")
    }
}
