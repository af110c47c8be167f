import ArgumentParser
import DevelopmentServer
import SystemPackage

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a site to this machine, for development.",
        discussion: """
            Listens on 127.0.0.1 only and prints its URL when it is ready. It can be as slow and as faulty as the networks \
            that an app meets, to see what it shows its user then. On standard error it says each time when it breaks a response.

            EXAMPLE
              assetvault serve my-game/site --port 8080
              assetvault serve my-game/site --throttle 200KB --latency 300 \\
                --error-rate 0.1 --seed 7
            """)

    @Argument(help: ArgumentHelp("The site's folder.", valueName: "site"), completion: .directory)
    var site: String

    @Option(help: ArgumentHelp("The port; 0 picks a free one.", valueName: "n"))
    var port: UInt16 = 0

    @OptionGroup var network: NetworkOptions

    func run() async throws {
        let folder = FilePath(site)
        try folder.requireSite()
        let server = DevelopmentServer(root: folder, port: port, conditions: network.conditions) {
            Console.note("fault: \($0)")
        }
        try await server.run { Console.answer($0) }
    }
}
