import Testing
import VaultBase

/// A process's exit code and output.
struct CommandResult: Sendable {
    /// 128 + N where signal N ended it, as in the shell.
    let exitCode: Int32
    let output: [UInt8]
    let errors: [UInt8]

    var text: String { String(decoding: output, as: UTF8.self) }
    var errorText: String { String(decoding: errors, as: UTF8.self) }

    /// The output as one JSON value.
    func json() throws -> JSONValue { try JSONValue(parsing: output.span, place: "standard output") }

    /// Expects success; reports the output on failure.
    @discardableResult
    func succeeded(at location: SourceLocation = #_sourceLocation) throws -> CommandResult {
        try #require(exitCode == 0, "\(errorText)", sourceLocation: location)
        return self
    }

    /// Expects a clean failure: this code, nothing on standard output, and one line on standard error that names every
    /// one of `parts`.
    @discardableResult
    func failed(
        _ code: Int32, naming parts: String..., at location: SourceLocation = #_sourceLocation
    ) -> CommandResult {
        #expect(exitCode == code, "\(errorText)", sourceLocation: location)
        #expect(output.isEmpty, "\(text.prefix(200))", sourceLocation: location)
        #expect(errorText.hasPrefix("assetvault: "), "\(errorText)", sourceLocation: location)
        #expect(
            errorText.hasSuffix("\n") && errorText.utf8.count(where: { $0 == 10 || $0 == 13 }) == 1,
            "not one line: \(errorText)", sourceLocation: location)
        // Where: what; what to do.
        #expect(
            errorText.contains(": ") && errorText.contains("; "), "\(errorText)", sourceLocation: location)
        for part in parts {
            #expect(errorText.contains(part), "\(errorText)", sourceLocation: location)
        }
        return self
    }
}
