import Foundation
import Testing

/// Processes that are ended during their work.
@Suite(.timeLimit(.minutes(10))) struct TerminationTests {
    let sample: SamplePack
    let place: String
    init() throws {
        sample = try SamplePack()
        place = try sample.makeFolder("place")
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

    private func command(_ work: String) async throws -> Words {
        try await sample.seal()
        switch work {
        case "seal": return "seal $LEVEL -o \(place)/out $KEYS"
        case "archive":
            try await Tool.run("tar", "cf", sample["level.tar"], "-C", sample.level, ".")
            return "seal $WORK/level.tar -o \(place)/out $KEYS"
        case "open": return "open $PACK -o \(place)/out $KEYS"
        default: return "open $PACK --tar \(place)/out $KEYS"
        }
    }

    /// Sends the signal while the command is stopped in a system call.
    private func leavesNothing(_ signal: Int32, in moment: Moment) async throws {
        let command = try await command(moment.work)
        try await StoppedCommand.expectEnd(
            of: command, by: signal, in: moment.call, number: moment.number, notesIn: sample
        ) { try !sample.names(in: "place").isEmpty }
        #expect(try sample.names(in: "place") == [])
    }

    @Test(arguments: Moment.inTheMiddle, [SIGTERM, SIGINT])
    func aSignalLeavesNothing(moment: Moment, signal: Int32) async throws {
        try await leavesNothing(signal, in: moment)
    }

    @Test func sighupLeavesNothing() async throws {
        try await leavesNothing(SIGHUP, in: Moment(work: "seal", call: "fsync"))
    }

    @Test func anEmptyOutputFolderStaysEmpty() async throws {
        try sample.makeFolder("place/out")
        let command = try await command("open")
        let wrapper = Sandbox.injecting("signal=KILL", into: "syncfs", number: 1)
        #expect(try await sample.run(command, through: wrapper).exitCode == 128 + SIGKILL)
        #expect(try sample.names(in: "place/out") == [])
    }

    /// SIGKILL leaves only scratch files, and the work can be done again.
    @Test(arguments: Moment.inTheMiddle + Moment.atTheEnd) func aKillLeavesNothingFinal(moment: Moment)
        async throws
    {
        let command = try await command(moment.work)
        let wrapper = Sandbox.injecting("signal=KILL", into: moment.call, number: moment.number)
        let result = try await sample.run(command, through: wrapper)
        #expect(result.exitCode == 128 + SIGKILL)
        #expect(result.output == [])
        // The manifest is renamed after its pack, so a manifest always has a pack.
        for name in try sample.names(in: "place") where name != "out.json.next" {
            #expect(name.hasPrefix(".assetvault-") && name.hasSuffix(".tmp"), "\(name)")
            let permissions = try sample.permissions("place/\(name)") ?? 0
            #expect([0o600, 0o700].contains(permissions) || moment.isSettled, "\(name) \(permissions)")
        }
        try await sample.run(command).succeeded()
    }

    /// Killed between the names of pack and manifest, also where both replace others.
    @Test(arguments: [false, true]) func aPackUnderItsFinalNameOpens(replacing: Bool) async throws {
        let command = try await command("seal")
        if replacing { try await sample.run(command).succeeded() }
        let wrapper = Sandbox.injecting("signal=KILL", into: "renameat", number: replacing ? 3 : 2)
        let result = try await sample.run("\(command) \(replacing ? ["--force"] : [])", through: wrapper)
        #expect(result.exitCode == 128 + SIGKILL)
        #expect(try sample.names(in: "place").contains("out"))
        #expect(try sample.exists("place/out.json") == replacing)
        try await sample.open("\(place)/out", into: "\(place)/opened").succeeded()
        try await expectSameTree(sample.level, "\(place)/opened")
    }
}
