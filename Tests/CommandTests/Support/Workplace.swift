import Foundation
import SystemPackage
import Testing
import VaultBase
import VaultFileSystem

/// A folder in which a test works: what it holds, and the commands that run there.
protocol Workplace: Sendable {
    var path: FilePath { get }
    /// What `$NAME` stands for in command lines.
    var variables: [String: [String]] { get }
}

extension Workplace {
    var variables: [String: [String]] { ["WORK": [path.string]] }

    /// Runs the command to its end.
    ///
    /// - Parameters:
    ///   - input: What it reads on standard input.
    ///   - environment: Variables to add, or with nil to take away.
    ///   - wrapper: A program that starts the command given behind its own arguments, such as `strace -o log`.
    ///   - step: Where the debug build kills itself: `NAME`, or `NAME:3` for the third time that it comes there.
    func run(
        _ words: Words, input: [UInt8] = [], environment: [String: String?] = [:],
        workingDirectory: FilePath? = nil, through wrapper: [String] = [], dyingAt step: String? = nil
    ) async throws -> CommandResult {
        let command = try step == nil ? Command.path : Command.debugPath
        return try await Tool.run(
            wrapper + [command.string] + words.list(variables), input: input,
            environment: step.map { environment.merging(["ASSETVAULT_FAIL_POINT": $0]) { $1 } }
                ?? environment,
            workingDirectory: workingDirectory)
    }

    /// Runs a command that must succeed, and returns the peak of its memory in KiB, as GNU time counts the largest resident set.
    func memory(of words: Words, through wrapper: [String] = []) async throws -> Int {
        let time = ["/usr/bin/time", "-f", "%M", "-o", self["memory"]]
        try await run(words, through: wrapper + time).succeeded()
        return try #require(Int(text("memory").trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// Starts the command, hands it to `body`, and ends it afterwards, in every case.
    @discardableResult
    func whileRunning<Value: Sendable>(
        _ words: Words, workingDirectory: FilePath? = nil, through wrapper: [String] = [],
        _ body: (RunningCommand) async throws -> Value
    ) async throws -> Value {
        try await Command.whileRunning(
            words.list(variables), workingDirectory: workingDirectory, through: wrapper, body: body)
    }

    /// The path of something in the folder, as an argument.
    subscript(_ name: String) -> String { path.appending(name).string }

    /// Writes a file and makes the folders above it.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], permissions: UInt16 = 0o644) throws -> String {
        try FileManager.default.createDirectory(
            atPath: path.appending(name).removingLastComponent().string, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: self[name]))
        try setPermissions(name, permissions)
        return self[name]
    }

    @discardableResult
    func write(_ name: String, _ text: String, permissions: UInt16 = 0o644) throws -> String {
        try write(name, Array(text.utf8), permissions: permissions)
    }

    @discardableResult
    func makeFolder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: self[name], withIntermediateDirectories: true)
        return self[name]
    }

    /// Makes a file of zeros that takes no space.
    func makeSparse(_ name: String, size: UInt64) throws {
        try write(name, "")
        try OpenFile(updating: path.appending(name)).truncate(to: size)
    }

    /// Copies a file, or a folder with all it holds. A whole path may name what is elsewhere.
    func copy(_ name: String, to other: String) async throws {
        try await Tool.run(
            "cp", "-a", path.pushing(FilePath(name)).string, path.pushing(FilePath(other)).string)
    }

    /// Removes a file, or a folder with all it holds.
    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: self[name]) }

    func setPermissions(_ name: String, _ permissions: UInt16) throws {
        try FileManager.default.setAttributes([.posixPermissions: Int(permissions)], ofItemAtPath: self[name])
    }

    func permissions(_ name: String) throws -> UInt16? {
        try FileSystem.status(of: path.appending(name))?.permissions
    }

    func exists(_ name: String) throws -> Bool { try FileSystem.exists(path.appending(name)) }

    /// Every name in the folder, or in one of its folders, hidden ones too, sorted.
    func names(in folder: String = ".") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self[folder]).sorted()
    }

    func bytes(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: self[name]))) }

    func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

    func lines(_ name: String) throws -> [String] { try text(name).split(separator: "\n").map(String.init) }

    /// Inverts the lowest bit of a byte, in place; a negative offset counts from the end.
    func flipBit(of name: String, at offset: Int) throws {
        let file = try OpenFile(updating: path.appending(name))
        let place = offset < 0 ? try file.status().size - UInt64(-offset) : UInt64(offset)
        try file.write([file.readExactly(1, at: place)[0] ^ 1].span, at: place)
    }

    /// The bytes of a file outside its holes.
    func dataCount(of name: String) throws -> Int {
        let file = try OpenFile(reading: path.appending(name))
        return try file.dataRanges(in: 0..<file.status().size).reduce(0) { $0 + $1.count }
    }

    /// The JSON object that a file holds.
    func json(_ name: String) throws -> JSONObject {
        let bytes = try bytes(name)
        return try JSONValue(parsing: bytes.span, place: name).asObject(at: name)
    }

    /// Any JSON that a file holds.
    func json(_ name: String) throws -> JSONValue {
        let bytes = try bytes(name)
        return try JSONValue(parsing: bytes.span, place: name)
    }

    /// Changes the JSON object that a file holds.
    func edit(_ name: String, _ change: (inout JSONObject) throws -> Void) throws {
        var json: JSONObject = try json(name)
        try change(&json)
        try write(name, JSONValue.object(json).pretty())
    }
}
