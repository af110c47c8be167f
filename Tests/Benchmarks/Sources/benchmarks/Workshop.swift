import FoundationEssentials
import Glibc

/// The folder that all runs work in, and the names under which their scripts know things.
struct Workshop: Sendable {
    private let folder: String
    private let output: String
    let environment: [String: String]
    let commandVersion: String

    /// Makes the folder anew, with what the works of reading read.
    init(_ options: Options, file: String) throws {
        folder = options.work
        output = folder + "/out"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var variables = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            "LC_ALL": "C.UTF-8",
            "assetvault": options.command, "corpus": options.corpus, "out": output, "file": file,
            "key": folder + "/vault.jwks", "pack": folder + "/benchmark.avpack",
            "identity": folder + "/age.key", "age": folder + "/benchmark.tar.zst.age",
            "version": folder + "/version",
        ]
        for (name, value) in variables
        where name != "PATH" && name != "file" && value.contains(where: \.isWhitespace) {
            throw Failure("the scripts want no spaces in paths: \(value)")
        }
        _ = try MeasuredProcess.run(Contest.preparation, environment: variables, errors: folder + "/errors")
        variables["recipient"] = try Self.recipient(in: folder + "/age.key")
        environment = variables
        commandVersion = try String(contentsOfFile: folder + "/version", encoding: .utf8).filter {
            $0 != "\n"
        }
    }

    /// Runs one contender once: the disk is idle before, and what it wrote is weighed and emptied afterwards.
    func run(_ contender: Contender) throws -> Cost {
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: false)
        sync()
        var cost = try MeasuredProcess.run(
            contender.script, environment: environment, errors: folder + "/errors")
        cost.output = FolderSize.empty(output).bytes
        try FileManager.default.moveItem(atPath: output, toPath: "\(folder)/spent-\(UUID().uuidString)")
        return cost
    }

    func close() { try? FileManager.default.removeItem(atPath: folder) }

    /// The public key that `age-keygen` noted in a comment.
    private static func recipient(in path: String) throws -> String {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let word = text.split(whereSeparator: \.isWhitespace).first(where: { $0.hasPrefix("age1") })
        else { throw Failure("no recipient in \(path)") }
        return String(word)
    }
}
