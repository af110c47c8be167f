import Foundation
import SystemPackage
import Testing
import VaultBase

/// What a line of a script expected, and did not see.
struct ScriptFailure: Error {
    let text: String

    init(_ text: String) { self.text = text }
}

/// A failure was reported; the rest of the section makes no sense.
struct ScriptStop: Error {}

/// Runs the lines of one script in a folder of its own, which is the working directory of every command.
struct ScriptRun {
    let script: Script
    let folder: TemporaryFolder
    private var variables: [String: String] = [
        "KEYS": "--keys file:vault/keys/vault.jwks",
        "CLIENT": "--store store --trust vault/trusted-root.json --keys file:vault/keys/vault.jwks",
    ]
    private var environment: [String: String?] = [:]
    private var umask: UInt16?
    private var clock: [String] = []
    private var input: [UInt8] = []
    private var last = CommandResult(exitCode: 0, output: [], errors: [])
    private var remembered: [String: Tree] = [:]

    init(_ script: Script, in folder: TemporaryFolder) throws {
        self.script = script
        self.folder = folder
        variables["WORK"] = folder.path.string
        variables["ASSETVAULT"] = try Command.path.string
        variables["SAMPLES"] = Script.samples.string
    }

    /// Runs lines in their order; the first that fails is reported, with its place, and ends the run.
    mutating func run(_ lines: ArraySlice<Script.Line>) async throws {
        var rest = lines
        while let line = rest.popFirst() {
            do {
                let commands = try ScriptWords(variables: variables, matches: paths).commands(in: line.text)
                switch commands[0].first {
                case "serve":
                    let server = ["serve"] + commands[0].dropFirst() + ["--port", "0"]
                    return try await start([Command.path.string] + server, named: "URL", then: rest)
                case "start":
                    let words = commands[0].dropFirst(2)
                    return try await start(Array(words), named: commands[0][1], then: rest)
                case "each": try await repeatBlock(commands[0][1...], from: &rest)
                case "paste": try await paste(commands[0][1...])
                default: try await run(commands)
                }
            } catch let stop as ScriptStop {
                throw stop
            } catch {
                let problem = (error as? ScriptFailure)?.text ?? "\(error)"
                let said = [last.text, last.errorText].filter { !$0.isEmpty }.joined(separator: "\n")
                Issue.record(
                    "\(line.text)\n\(problem)\nexit code \(last.exitCode)\n\(said)",
                    sourceLocation: SourceLocation(
                        fileID: "CommandTests/\(script.name).txt", filePath: script.path.string,
                        line: line.number, column: 1))
                throw ScriptStop()
            }
        }
    }

    /// Each command after the first one reads what the one before it printed.
    private mutating func run(_ commands: [[String]]) async throws {
        for (index, words) in commands.enumerated() {
            if index > 0 { input = last.output }
            try await run(words[...])
            if index > 0 { input = [] }
        }
    }

    /// `each NAME VALUE…`, `each NAME,NAME VALUE VALUE…`: runs the lines up to `end` for each value, or each group of values.
    private mutating func repeatBlock(
        _ words: ArraySlice<String>, from rest: inout ArraySlice<Script.Line>
    ) async throws {
        let names = words.first?.split(separator: ",").map(String.init) ?? []
        guard let end = Self.end(in: rest), !names.isEmpty,
            words.dropFirst().count.isMultiple(of: names.count)
        else { throw ScriptFailure("each needs a name, values, and a line 'end'") }
        let block = rest[..<end]
        rest = rest[(end + 1)...]
        var values = words.dropFirst()
        while !values.isEmpty {
            for name in names { variables[name] = values.popFirst() }
            try await run(block)
        }
    }

    /// `paste DOCUMENT HEADING WORD=VALUE…`: runs the indented lines below a heading of a document of this repository, with the values in
    /// the place of the words.
    private mutating func paste(_ words: ArraySlice<String>) async throws {
        let (document, heading) = try two(words.prefix(2))
        let repository = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let lines = try String(contentsOf: repository.appending(path: document), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        let section = lines.drop { $0 != "## \(heading)" }.dropFirst().prefix { !$0.hasPrefix("#") }
        let commands = section.filter { $0.hasPrefix("    ") }
        if commands.isEmpty { throw ScriptFailure("\(document) has no commands below '\(heading)'") }
        for line in commands {
            // What follows a `#` is for people.
            var text = String(line.prefix { $0 != "#" })
            for word in words.dropFirst(2) {
                let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
                guard parts.count == 2 else { throw ScriptFailure("WORD=VALUE is expected, not \(word)") }
                text = text.replacing(parts[0], with: parts[1])
            }
            try await run(ScriptWords(variables: variables, matches: paths).commands(in: text))
        }
    }

    /// The `end` of a block whose blocks have their own.
    private static func end(in lines: ArraySlice<Script.Line>) -> Int? {
        var depth = 0
        return lines.firstIndex { line in
            if line.text.hasPrefix("each ") { depth += 1 }
            guard line.text == "end" else { return false }
            depth -= 1
            return depth < 0
        }
    }

    /// Runs a program beside the lines that follow. The variable is the first line that it prints.
    private func start(
        _ program: [String], named variable: String, then rest: ArraySlice<Script.Line>
    ) async throws {
        var run = self
        try await Command.whileRunning(program: program, workingDirectory: folder.path) { server in
            run.variables[variable] = try await server.firstLine()
            try await run.run(rest)
        }
    }

    private mutating func run(_ words: ArraySlice<String>) async throws {
        let (name, arguments) = (words.first ?? "", words.dropFirst())
        switch name {
        case "!": try await expectFailure(of: arguments)
        case "fails": try await expectRefusal(arguments)
        case "exits": try await expectExit(Int32(try one(arguments)), arguments.dropFirst())
        case "stdout": try expect(last.text, toContain: arguments)
        case "stderr": try expect(last.errorText, toContain: arguments)
        case "contains": try expect(text(of: one(arguments)), toContain: arguments.dropFirst())
        case "is": try expect(text(of: one(arguments)), toBe: arguments.dropFirst().joined(separator: "\n"))
        case "cmp": try expectEqualTexts(arguments)
        case "exists":
            for path in arguments where try !folder.exists(path) { throw ScriptFailure("no \(path)") }
        case "same": try expectEqualTrees(arguments)
        case "remember": for path in arguments { remembered[path] = try Tree(folder[path]) }
        case "unchanged": for path in arguments { try expectUnchanged(path) }
        case "damage": try damage(arguments)
        case "json": try expectJSON(arguments)
        case "edit": try edit(arguments)
        case "let": try set(arguments)
        case "write": try folder.write(one(arguments), arguments.dropFirst().joined(separator: "\n") + "\n")
        case "stdin": input = try bytes(of: one(arguments))
        case "env": try change(arguments)
        case "umask": umask = try UInt16(one(arguments), radix: 8)
        case "clock": clock = try days(one(arguments)).map(Clock.shifted) ?? []
        default: try await expectExit(0, words)
        }
    }

    // MARK: Commands

    /// Runs a program of the PATH, or `assetvault`.
    private mutating func execute(_ words: ArraySlice<String>) async throws {
        guard let name = words.first else { throw ScriptFailure("a command is missing") }
        // Only the debug build can kill itself at a step.
        let command = environment["ASSETVAULT_FAIL_POINT"] == nil ? try Command.path : try Command.debugPath
        let program = name == "assetvault" ? command.string : name
        var all = (name == "assetvault" ? clock : []) + [program] + words.dropFirst()
        if let umask { all = Command.shell("umask 0\(String(umask, radix: 8)); exec \"$@\"") + all }
        last = try await Tool.run(all, input: input, environment: environment, workingDirectory: folder.path)
        input = []
    }

    private mutating func expectExit(_ code: Int32?, _ words: ArraySlice<String>) async throws {
        try await execute(words)
        if last.exitCode != code {
            throw ScriptFailure("its exit code was to be \(code.map(String.init) ?? "a number")")
        }
    }

    private mutating func expectRefusal(_ words: ArraySlice<String>) async throws {
        try await expectExit(Int32(try one(words)), words.dropFirst())
        guard last.isRefusal else {
            throw ScriptFailure("it was to print one line alone, of where, what, and what to do")
        }
    }

    /// A program that must fail, or a check that must not hold.
    private mutating func expectFailure(of words: ArraySlice<String>) async throws {
        let checks: Set = [
            "stdout", "stderr", "contains", "is", "cmp", "exists", "same", "unchanged", "json",
        ]
        guard let name = words.first, checks.contains(name) else {
            try await execute(words)
            if last.exitCode == 0 { throw ScriptFailure("it was to fail") }
            return
        }
        do { try await run(words) } catch is ScriptFailure { return }
        throw ScriptFailure("this was not to be so")
    }

    // MARK: Checks

    /// Without texts: that there is any.
    private func expect(_ text: String, toContain parts: ArraySlice<String>) throws {
        if parts.isEmpty, text.isEmpty { throw ScriptFailure("nothing is there") }
        for part in parts where !text.contains(part) { throw ScriptFailure("missing: \(part)\nin: \(text)") }
    }

    private func expect(_ text: String, toBe expected: String) throws {
        guard text == expected || text == expected + "\n" else {
            throw ScriptFailure("expected: \(expected)\nseen: \(text)")
        }
    }

    private func expectEqualTexts(_ names: ArraySlice<String>) throws {
        let (one, other) = try two(names)
        guard try bytes(of: one) == bytes(of: other) else {
            throw ScriptFailure("they differ:\n\(try text(of: one))\n\(try text(of: other))")
        }
    }

    private func expectEqualTrees(_ paths: ArraySlice<String>) throws {
        let (one, other) = try two(paths)
        try expect(Tree(folder[one]), toBe: Tree(folder[other]), one)
    }

    /// Modes count, too.
    private func expectUnchanged(_ path: String) throws {
        guard let before = remembered[path] else { throw ScriptFailure("\(path) was not remembered") }
        let now = try Tree(folder[path])
        try expect(now, toBe: before, path)
        let changed = now.permissions.filter { before.permissions[$0.key] != $0.value }.keys.sorted()
        if !changed.isEmpty {
            throw ScriptFailure("\(path): modes differ: \(changed.joined(separator: ", "))")
        }
    }

    private func expect(_ tree: Tree, toBe other: Tree, _ path: String) throws {
        let names = Set(tree.entries.keys).union(other.entries.keys)
        let differing = names.filter { tree.entries[$0] != other.entries[$0] }.sorted()
        if !differing.isEmpty { throw ScriptFailure("\(path) differs: \(differing.joined(separator: ", "))") }
    }

    /// `json FILE MEMBER… = VALUE`: what stands there; without `=` and a value, that something does.
    private func expectJSON(_ words: ArraySlice<String>) throws {
        let (path, expected) = ScriptJSON.parts(words.dropFirst())
        let found = try document(one(words)).value(at: path)
        guard let found, expected == nil || found == expected else {
            let texts = [expected, found].map { $0.map { ScriptJSON(value: $0).text } ?? "nothing" }
            throw ScriptFailure("expected: \(texts[0])\nseen: \(texts[1])")
        }
    }

    // MARK: State

    /// `edit FILE MEMBER… = VALUE`; null removes the member.
    private func edit(_ words: ArraySlice<String>) throws {
        let name = try one(words)
        let (path, value) = ScriptJSON.parts(words.dropFirst())
        guard let value else { throw ScriptFailure("= and a value are missing") }
        var document = try document(name)
        try document.set(value, at: path)
        try folder.write(name, document.value.pretty())
    }

    /// `let NAME TEXT`, `let NAME json FILE MEMBER…`, `let NAME text FILE`.
    private mutating func set(_ words: ArraySlice<String>) throws {
        let (name, rest) = (try one(words), words.dropFirst())
        switch rest.first {
        case "json":
            let found = try document(one(rest.dropFirst())).value(at: rest.dropFirst(2))
            guard let found else { throw ScriptFailure("nothing is there") }
            variables[name] = ScriptJSON(value: found).text
        case "text":
            variables[name] = try text(of: one(rest.dropFirst())).trimmingCharacters(in: .newlines)
        default: variables[name] = rest.joined(separator: " ")
        }
    }

    /// `env NAME=VALUE…`; `NAME` alone takes it away.
    private mutating func change(_ words: ArraySlice<String>) throws {
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            environment[String(parts[0])] = .some(parts.count == 2 ? String(parts[1]) : nil)
        }
    }

    /// `+41d` or `-3d`; nil for `now`.
    private func days(_ word: String) throws -> Int? {
        if word == "now" { return nil }
        guard word.hasSuffix("d"), let days = Int(word.dropLast()) else {
            throw ScriptFailure("not a number of days: \(word)")
        }
        return days
    }

    /// `damage FILE OFFSET`: changes one bit of the byte there; a negative offset counts from the end.
    private func damage(_ words: ArraySlice<String>) throws {
        let (name, text) = try two(words)
        var bytes = try folder.bytes(name)
        guard let offset = Int(text), bytes.indices.contains(offset < 0 ? bytes.count + offset : offset)
        else {
            throw ScriptFailure("\(name) has no byte \(text)")
        }
        bytes[offset < 0 ? bytes.count + offset : offset] ^= 1
        let permissions = try folder.permissions(name) ?? 0o644
        try folder.setPermissions(name, permissions | 0o200)
        try folder.write(name, bytes, permissions: permissions)
    }

    // MARK: Operands

    private func one(_ words: ArraySlice<String>) throws -> String {
        guard let word = words.first else { throw ScriptFailure("a word is missing") }
        return word
    }

    private func two(_ words: ArraySlice<String>) throws -> (String, String) {
        guard words.count == 2, let first = words.first, let last = words.last else {
            throw ScriptFailure("two names are needed")
        }
        return (first, last)
    }

    /// The content of a file; `stdout` and `stderr` are what the last command printed.
    private func bytes(of name: String) throws -> [UInt8] {
        switch name {
        case "stdout": return last.output
        case "stderr": return last.errors
        default:
            guard try folder.exists(name) else { throw ScriptFailure("no \(name)") }
            return try folder.bytes(name)
        }
    }

    private func text(of name: String) throws -> String {
        String(decoding: try bytes(of: name), as: UTF8.self)
    }

    private func document(_ name: String) throws -> ScriptJSON {
        let bytes = try bytes(of: name)
        do { return ScriptJSON(value: try JSONValue(parsing: bytes.span, place: name)) } catch {
            throw ScriptFailure("\(error)")
        }
    }

    /// The paths in the folder that match a pattern whose `*` stands for any part of one name.
    private func paths(matching pattern: String) throws -> [String] {
        var found: [String] = [""]
        for part in pattern.split(separator: "/") {
            found = try found.flatMap { parent -> [String] in
                let prefix = parent.isEmpty ? "" : "\(parent)/"
                guard part.contains("*") else {
                    return try folder.exists(prefix + part) ? [prefix + part] : []
                }
                guard let names = try? folder.names(in: parent.isEmpty ? "." : parent) else { return [] }
                return names.filter { Self.name($0, matches: part) }.map { prefix + $0 }
            }
        }
        return found
    }

    private static func name(_ name: String, matches pattern: Substring) -> Bool {
        var rest = name[...]
        let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() where !part.isEmpty {
            if index == 0, !rest.hasPrefix(part) { return false }
            if index == parts.count - 1 { return rest.hasSuffix(part) }
            guard let range = rest.firstRange(of: part) else { return false }
            rest = rest[range.upperBound...]
        }
        return true
    }
}
