import Testing

/// A machine with a vault's settings and keys but without its site; and the sources, and the host's files.
struct Runner {
    let world: World
    let name: String
    var vault: String { world["\(name)/vault"] }
    /// The written files, to be uploaded.
    var site: String { world["\(name)/vault/site"] }
    /// The folder that a web server serves.
    var host: String { world["host"] }

    /// A fresh one; the host gets what the world has published, if it has nothing yet.
    init(of world: World, named name: String = "runner") async throws {
        self.world = world
        self.name = name
        if try !world.exists("host") { try await world.copy("vault/site", to: "host") }
        try world.makeFolder("\(name)/vault")
        for file in ["vault.json", "trusted-root.json", "keys"] {
            try await world.copy("vault/\(file)", to: "\(name)/vault/\(file)")
        }
        // Sources are named relative to the vault.
        for source in try world.names() where !["vault", "host", "store", name].contains(source) {
            try await Tool.run("ln", "-s", world[source], world["\(name)/\(source)"])
        }
    }

    /// Runs a command on its vault, by what the host has.
    func run(
        _ command: Words, _ options: Words = "", against url: String? = nil, through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await world.run("\(command) \(vault) --against \(url ?? host) \(options)", through: wrapper)
    }

    func publish(
        _ options: Words = "", against url: String? = nil, through wrapper: [String] = []
    ) async throws -> CommandResult {
        try await run("publish", options, against: url, through: wrapper)
    }

    /// Copies what was written over what the host has, in the order that uploads keep. A change of the trust writes no packs.
    func upload() async throws {
        let order =
            "if [ -d '\(site)/targets' ]; then cp -r '\(site)/targets' '\(host)/'; fi; cp -r '\(site)/metadata' '\(host)/'"
        try await Tool.run("sh", "-ec", order)
    }

    /// What it has written, relative to the site.
    func written() throws -> [String] {
        try world.exists("\(name)/vault/site") ? Tree(site).files : []
    }

    /// Whether its vault has files of unfinished work.
    func hasScratch() throws -> Bool { try !Tree(vault).scratch.isEmpty }
}
