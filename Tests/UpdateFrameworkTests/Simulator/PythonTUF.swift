import Foundation
import SystemPackage
import Testing
import VaultBase

/// Runs the scripts of `Tests/Interop/tuf` with the Python in `ASSETVAULT_PYTHON`.
struct PythonTUF {
    /// The script failed, with the reason on standard error.
    struct Refusal: Error {
        let script: String
    }

    private let scripts = FilePath(#filePath).removingLastComponent().removingLastComponent()
        .removingLastComponent().appending("Interop/tuf")

    /// The script's output, if any.
    func run(_ script: String, _ arguments: String...) throws -> JSONObject {
        let python = try #require(
            ProcessInfo.processInfo.environment["ASSETVAULT_PYTHON"],
            "ASSETVAULT_PYTHON is not set: run Tests/run.sh, which prepares python-tuf and runs these tests")
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: python)
        process.arguments = [scripts.appending(script).string] + arguments
        process.environment = ["PYTHONDONTWRITEBYTECODE": "1"]
        process.standardOutput = output
        try process.run()
        let answer = Array(try output.fileHandleForReading.readToEnd() ?? Data())
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Refusal(script: script) }
        return answer.isEmpty ? [:] : try JSONValue(parsing: answer.span, place: script).asObject(at: script)
    }
}
