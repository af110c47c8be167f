import FoundationEssentials
import Glibc

/// The folder that all runs over one corpus work in, and the variables of their scripts.
struct Workshop: Sendable {
    /// The name of the corpus.
    let corpus: String
    /// The file that `cat` prints.
    let file: String
    private let folder: String
    private let output: String
    private let environment: [String: String]
    private let server: WebServer

    /// Makes the folder `work/<corpus>`, with keys.
    init(corpus: String, of options: Options, server: WebServer) throws {
        let source = options.cache + "/corpora/" + corpus
        guard let file = try FolderSize.file(in: source, nearest: 50_000) else {
            throw Failure("no file in \(source)")
        }
        self.corpus = corpus
        self.file = file
        self.server = server
        folder = options.work + "/" + corpus
        output = folder + "/out"
        let served = server.root + "/" + corpus
        for path in [folder, served] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        var variables = Self.variables(of: options)
        variables.merge([
            "corpus": source, "file": file, "folder": folder, "out": output,
            "www": served, "url": "http://127.0.0.1:\(server.port)/\(corpus)",
            "key": folder + "/vault.jwks", "pack": folder + "/benchmark.avpack",
            "identity": folder + "/age.key", "age": folder + "/benchmark.tar.zst.age",
            "restic": folder + "/restic", "casync": folder + "/casync",
        ]) { $1 }
        let errors = folder + "/errors"
        _ = try MeasuredProcess.run(
            "umask 077; $assetvault keygen -o $key; age-keygen -o $identity", environment: variables,
            errors: errors)
        variables["recipient"] = try Self.recipient(in: folder + "/age.key")
        environment = variables
    }

    /// The path of programs: a web server is found outside the path of most users.
    static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin") + ":/usr/sbin"

    /// The variables of all scripts.
    static func variables(of options: Options) -> [String: String] {
        [
            "PATH": path, "LC_ALL": "C.UTF-8", "HOME": options.work, "RESTIC_PASSWORD": "benchmark",
            "assetvault": options.command,
        ]
    }

    /// Makes the input of a contest.
    func prepare(_ script: String) throws {
        _ = try MeasuredProcess.run(
            Preparation.functions + script, environment: environment, errors: folder + "/errors")
    }

    /// Runs one contender once: the disk is idle before, and its output is measured and emptied afterwards.
    func run(_ contender: Contender) throws -> Cost {
        let errors = folder + "/errors"
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: false)
        if !contender.setup.isEmpty {
            _ = try MeasuredProcess.run(contender.setup, environment: environment, errors: errors)
        }
        sync()
        server.clearLog()
        var cost = try MeasuredProcess.run(contender.script, environment: environment, errors: errors)
        cost.received = try server.traffic().total
        cost.output = try FolderSize.empty(output).bytes
        try FileManager.default.moveItem(atPath: output, toPath: "\(folder)/spent-\(UUID().uuidString)")
        return cost
    }

    /// The public key that `age-keygen` noted in a comment.
    private static func recipient(in path: String) throws -> String {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let word = text.split(whereSeparator: \.isWhitespace).first(where: { $0.hasPrefix("age1") })
        else { throw Failure("no recipient in \(path)") }
        return String(word)
    }
}
