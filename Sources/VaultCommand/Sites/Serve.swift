import ArgumentParser
import DevelopmentServer
import SystemPackage

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a site to this machine, for development.",
        discussion: """
            Listens on 127.0.0.1 only and prints its URL when it is ready.

            EXAMPLE
              assetvault serve my-game/site --port 8080
            """)

    @Argument(help: ArgumentHelp("The site's folder.", valueName: "site"), completion: .directory)
    var site: String

    @Option(help: ArgumentHelp("The port; 0 picks a free one.", valueName: "n"))
    var port: UInt16 = 0

    func run() async throws {
        let folder = FilePath(site)
        try folder.requireSite()
        try await DevelopmentServer(root: folder, port: port).run { Console.answer($0) }
    }
}
