import Foundation
import SystemPackage
import Testing

/// A machine with a vault's settings and keys but without its site; and the sources, and the host's files.
struct Runner {
    let workshop: Workshop
    let folder: TemporaryFolder
    let name: String

    var vault: String { folder["\(name)/vault"] }
    /// The written files, to be uploaded.
    var site: String { folder["\(name)/vault/site"] }
    /// The folder that a web server serves.
    static func host(of workshop: Workshop) -> String { workshop.folder["host"] }
    var host: String { Self.host(of: workshop) }

    /// A fresh one; the host gets what the workshop has published, if it has nothing yet.
    init(of workshop: Workshop, named name: String = "runner", with extra: [String] = []) async throws {
        self.workshop = workshop
        self.name = name
        folder = workshop.folder
        if try !folder.exists("host") { try await Tool.run("cp", "-a", workshop.site, folder["host"]) }
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

    /// Copies what was written over what the host has, in the order that uploads keep.
    func upload() async throws {
        let order = "cp -r '\(site)/targets' '\(host)/'; cp -r '\(site)/metadata' '\(host)/'"
        try await Tool.run("sh", "-ec", order)
    }

    /// What it has written, relative to the site.
    func written() throws -> [String] {
        try folder.exists("\(name)/vault/site") ? Tree(site).files : []
    }
}
