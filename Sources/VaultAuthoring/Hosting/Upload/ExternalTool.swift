import Subprocess
import SystemPackage
import VaultBase
import VaultFileSystem

/// A program of the user, found in `PATH`, with the user's configuration: it has the environment of this process, and no input.
struct ExternalTool: Sendable {
    let program: String
    /// Where it reads and writes.
    let address: DestinationAddress
    /// An existing folder for what it prints, which may be more than fits in memory.
    let scratch: FilePath

    /// What a run gave.
    struct Answer: Sendable {
        fileprivate let program: String
        let status: Int32
        fileprivate let output: OpenFileReference
        /// The end of what it wrote to standard error.
        let errors: String

        /// Passes each line of standard output to `body`, without its end. Throws `unavailable` for a line of over 64 KiB: a
        /// host decides what is listed, and no path is that long.
        func forEachLine(_ body: (String) throws(VaultError) -> Void) throws(VaultError) {
            var rest: [UInt8] = []
            try output.file.forEachBlock(of: 0..<output.file.status().size) { (block, _) throws(VaultError) in
                for index in block.indices {
                    guard block[index] == UInt8(ascii: "\n") else {
                        guard rest.count < 64 << 10 else {
                            throw VaultError(
                                .unavailable, "its list has a line of over 64 KiB", at: "program \(program)",
                                remedy: "find out what has such a name at the destination")
                        }
                        rest.append(block[index])
                        continue
                    }
                    try body(String(decoding: rest, as: UTF8.self))
                    rest.removeAll(keepingCapacity: true)
                }
            }
            if !rest.isEmpty { try body(String(decoding: rest, as: UTF8.self)) }
        }
    }

    /// Runs it to its end.
    ///
    /// - Parameter accepted: the exit codes that are answers.
    /// - Throws: `missing` where it is not installed, `unavailable` where it fails.
    func run(_ arguments: [String], accepting accepted: [Int32] = [0], for place: String)
        async throws(VaultError)
        -> Answer
    {
        let answer = try await start(arguments)
        guard accepted.contains(answer.status) else { throw failure(answer, at: place) }
        return answer
    }

    func failure(_ answer: Answer, at place: String) -> VaultError {
        var lines = answer.errors.split(whereSeparator: \.isNewline)
        // rsync ends with a summary; the causes stand before it, the first one first.
        if let last = lines.last, last.hasPrefix("\(program) error: "), lines.count > 1 {
            lines = Array(lines.dropLast().prefix(2))
        } else {
            lines = lines.suffix(1)
        }
        let words = lines.isEmpty ? nil : lines.map { $0.suffix(300) }.joined(separator: "; ")
        return failed(
            answer.status < 0 ? "was killed" : "failed with status \(answer.status)", words, at: place)
    }

    func unusable(_ line: String, at place: String) -> VaultError {
        failed("listed what can't be read", "'\(line.excerpt)'", at: place)
    }

    private func failed(_ how: String, _ words: String?, at place: String) -> VaultError {
        guard !address.isSecret, let words else {
            return VaultError(
                .unavailable, "\(program) \(how)", at: place,
                remedy: "run \(program) by hand to see why, then upload again")
        }
        return VaultError(
            .unavailable, "\(program) \(how): \(words)", at: place,
            remedy: "see what it says, then upload again")
    }

    private func start(_ arguments: [String]) async throws(VaultError) -> Answer {
        let output = try OpenFile(namelessIn: scratch)
        let errors = try OpenFile(namelessIn: scratch)
        let status: Int32
        do {
            let result = try await Subprocess.run(
                .name(program), arguments: Arguments(arguments), input: .none,
                output: .fileDescriptor(
                    FileDescriptor(rawValue: output.descriptor), closeAfterSpawningProcess: false),
                error: .fileDescriptor(
                    FileDescriptor(rawValue: errors.descriptor), closeAfterSpawningProcess: false))
            status = if case .exited(let code) = result.terminationStatus { code } else { -1 }
        } catch {
            throw VaultError(
                .missing, "it can't be run", at: "program \(program)",
                remedy: "install \(program), or check PATH")
        }
        let size = try errors.status().size
        var end: [UInt8] = []
        let start = size > 4096 ? size - 4096 : 0
        try errors.read(into: &end, upTo: 4096, at: start)
        return Answer(
            program: program, status: status, output: OpenFileReference(output),
            errors: String(decoding: end, as: UTF8.self))
    }

    /// Runs `body` with the path of a file that holds a line for each of these names.
    func withList<Value>(
        of names: [String], _ body: (String) async throws(VaultError) -> Value
    ) async throws(VaultError) -> Value {
        let folder = try ScratchFolder(in: scratch)
        let path = folder.path.appending("files")
        let bytes = Array(names.map { "\($0)\n" }.joined().utf8)
        try CachedFile.write(bytes.span, to: path, permissions: 0o600)
        return try await body(path.string)
    }
}

/// An address as an external tool takes it, and as messages and reports show it: an address may hold secrets.
///
/// rclone takes options in front of the path (its "connection strings"), such as `:s3,secret_access_key=…:bucket/game`; a value may be
/// quoted by `'` or `"`, and then hold colons. An rsync URL may hold a password before the host.
struct DestinationAddress: Sendable {
    /// As it was written.
    let text: String
    /// Without the options and without a password.
    let shown: String

    /// Whether no message may repeat what the tool prints, since it may quote the address in any way.
    var isSecret: Bool { text != shown }

    init(rclone text: String) {
        self.text = text
        // A backend's name begins with a colon.
        var index = text.hasPrefix(":") ? text.index(after: text.startIndex) : text.startIndex
        var options: String.Index?
        var quote: Character?
        while index < text.endIndex, quote != nil || text[index] != ":" {
            switch text[index] {
            case "'" where quote == nil, "\"" where quote == nil: quote = text[index]
            case quote: quote = nil
            case "," where quote == nil: options = options ?? index
            default: break
            }
            index = text.index(after: index)
        }
        let path = text[index...]
        if let options {
            // A URL as a value without quotes reaches into what follows.
            shown = "\(text[..<options]),…" + (path.contains("@") || path.contains("//") ? "" : path)
        } else if let at = path.prefix(while: { $0 != "/" }).lastIndex(of: "@") {
            // Such as `user:password@host:/folder`, which is not a remote.
            shown = "\(text[..<index]):…\(text[at...])"
        } else {
            shown = text
        }
    }

    init(rsync text: String) {
        self.text = text
        let authority = text.firstRange(of: "//").map { text[$0.upperBound...].prefix { $0 != "/" } } ?? ""
        if let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") {
            shown = "\(text[...colon])…\(text[at...])"
        } else {
            shown = text
        }
    }
}
