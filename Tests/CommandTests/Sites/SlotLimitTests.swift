import Foundation
import StrictJSON
import Testing

/// How many keys a pack, and the table of quiet names, is sealed for: `plan` and `publish` say it alike, before anything is sealed.
@Suite(.timeLimit(.minutes(5))) struct SlotLimitTests {
    let testSite: TestSite
    private var folder: TemporaryFolder { testSite.folder }

    init() async throws {
        testSite = try await TestSite()
        try folder.write("film/file", "film")
    }

    /// A film for an audience with this many keys, beside the vault's own.
    private func declare(keys count: Int, isQuiet: Bool) throws {
        let keys = (1...count).map { number in
            let secret = String(repeating: "A", count: 39) + "\(number + 100)0"
            return #"{"kty":"oct","alg":"A256KW","use":"enc","kid":"k\#(number)","k":"\#(secret)"}"#
        }
        try folder.write(
            "vault/keys/many.jwks", #"{"keys":[\#(keys.joined(separator: ","))]}"#, permissions: 0o600)
        try testSite.settings {
            $0["quietNames"] = .bool(isQuiet)
            $0["audiences"] = ["many": "file:keys/many.jwks"]
            $0["packs"] = ["film": ["source": "../film", "for": ["many"]]]
        }
    }

    @Test(arguments: [(64, false, nil), (63, true, nil), (65, false, "film"), (64, true, "quiet names")])
    func keys(count: Int, isQuiet: Bool, refused: String?) async throws {
        try declare(keys: count, isQuiet: isQuiet)
        for command in [["plan"], ["publish", "--dry-run"], ["publish"]] {
            let result = try await Command.run([command[0], testSite.vault] + command.dropFirst())
            if let refused {
                result.failed(64, naming: refused, "64 vault keys at most, not 65")
                #expect(try Tree(testSite.vault).files.allSatisfy { !$0.hasSuffix(".avpack") })
            } else {
                try result.succeeded()
            }
        }
    }
}
