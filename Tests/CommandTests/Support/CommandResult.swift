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

    /// Whether it refused: nothing on standard output, and one line on standard error, "where: what; what to do".
    var isRefusal: Bool {
        let prefix = "assetvault: "
        return output.isEmpty && errorText.hasPrefix(prefix) && errorText.hasSuffix("\n")
            && errors.count { $0 == 10 || $0 == 13 } == 1
            && errorText.dropFirst(prefix.count).contains(": ") && errorText.contains("; ")
    }

    /// The output as one JSON value.
    func json() throws -> JSONValue { try JSONValue(parsing: output.span, place: "standard output") }

    /// Expects success; reports the output on failure.
    @discardableResult
    func succeeded(at location: SourceLocation = #_sourceLocation) throws -> CommandResult {
        try #require(exitCode == 0, "\(errorText)", sourceLocation: location)
        return self
    }

    /// Expects a clean failure: this code, and a refusal that names every one of `parts`.
    @discardableResult
    func failed(
        _ code: Int32, naming parts: String..., at location: SourceLocation = #_sourceLocation
    ) -> CommandResult {
        #expect(exitCode == code, "\(errorText)", sourceLocation: location)
        #expect(isRefusal, "\(text.prefix(200))\(errorText)", sourceLocation: location)
        for part in parts {
            #expect(errorText.contains(part), "\(errorText)", sourceLocation: location)
        }
        return self
    }
}
