import Foundation
import SystemPackage
import Testing

/// A machine with a vault's settings and keys but without its site; and the sources, and the host's files.
struct Runner {
    let testSite: TestSite
    let folder: TemporaryFolder
    let name: String

    var vault: String { folder["\(name)/vault"] }
    /// The written files, to be uploaded.
    var site: String { folder["\(name)/vault/site"] }
    /// The folder that a web server serves.
    static func host(of testSite: TestSite) -> String { testSite.folder["host"] }
    var host: String { Self.host(of: testSite) }

    /// A fresh one; the host gets what the testSite has published, if it has nothing yet.
    init(of testSite: TestSite, named name: String = "runner", with extra: [String] = []) async throws {
        self.testSite = testSite
        self.name = name
        folder = testSite.folder
        if try !folder.exists("host") { try await Tool.run("cp", "-a", testSite.site, folder["host"]) }
        try folder.makeFolder("\(name)/vault")
        for file in ["vault.json", "trusted-root.json", "keys"] + extra {
            try await Tool.run("cp", "-a", folder["vault/\(file)"], folder["\(name)/vault/\(file)"])
        }
        // Sources are named relative to the vault.
        for source in try folder.names() where !["vault", "host", "store", name].contains(source) {
            try await Tool.run("ln", "-s", folder[source], folder["\(name)/\(source)"])
        }
    }

    func publish(_ url: String, _ arguments: String..., through wrapper: [String] = []) async throws
        -> CommandResult
    {
        try await Command.run(["publish", vault, "--against", url] + arguments, through: wrapper)
    }

    /// Copies what was written over what the host has, in the order that uploads keep. A change of the trust writes no packs.
    func upload() async throws {
        let order =
            "if [ -d '\(site)/targets' ]; then cp -r '\(site)/targets' '\(host)/'; fi; cp -r '\(site)/metadata' '\(host)/'"
        try await Tool.run("sh", "-ec", order)
    }

    /// What it has written, relative to the site.
    func written() throws -> [String] {
        try folder.exists("\(name)/vault/site") ? Tree(site).files : []
    }
}
