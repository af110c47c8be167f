import Foundation
import SystemPackage
import Testing

extension TestSite {
    /// Runs `assetvault serve` over the site while `body` runs, which gets the URL that it prints.
    @discardableResult
    func served<Value: Sendable>(_ body: (_ url: String) async throws -> Value) async throws -> Value {
        try await Command.whileRunning(["serve", site]) { server in
            try await body(try await server.firstLine())
        }
    }
}
