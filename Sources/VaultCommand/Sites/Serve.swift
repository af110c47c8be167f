import ArgumentParser
import DevelopmentServer
import SystemPackage

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve a site to this machine, for development.",
        discussion: """
            Listens on 127.0.0.1 only and prints its URL when it is ready. It can simulate slow and faulty \
            networks, to test how an app reacts. Each response that it breaks is reported on standard error.

            EXAMPLE
              assetvault serve my-game/site --port 8080
              assetvault serve my-game/site --throttle 200KB --latency 300 \\
                --error-rate 0.1 --seed 7
            """)

    @Argument(help: ArgumentHelp("The site's folder.", valueName: "site"), completion: .directory)
    var site: String

    @Option(help: ArgumentHelp("The port; 0 picks a free one.", valueName: "n"))
    var port: UInt16 = 0

    @Option(
        help: ArgumentHelp("Send so many bytes a second, on all connections together.", valueName: "size"))
    var throttle: ByteCount?

    @Option(help: ArgumentHelp("Wait before each response.", valueName: "ms"))
    var latency: UInt32 = 0

    @Option(help: ArgumentHelp("End the connection after so many bytes of a response.", valueName: "size"))
    var failAfter: ByteCount?

    @Option(help: ArgumentHelp("Leave out so many bytes at the end of each pack.", valueName: "size"))
    var truncate: ByteCount?

    @Flag(help: "Serve the present timestamp for ever, as a host with an old copy does.")
    var stale = false

    @Option(
        help: ArgumentHelp("End all connections after this time, and refuse new ones.", valueName: "seconds"))
    var offlineAfter: Double?

    @Option(help: ArgumentHelp("Let this fraction of the requests fail, such as 0.1.", valueName: "0..1"))
    var errorRate = 0.0

    @Option(help: ArgumentHelp("Decides which requests fail.", valueName: "n"))
    var seed: UInt64 = 1

    func validate() throws {
        if !(0...1).contains(errorRate) { throw ValidationError("--error-rate takes a number from 0 to 1") }
        if let offlineAfter, !(offlineAfter >= 0 && offlineAfter < 1e9) {
            throw ValidationError("--offline-after takes seconds, from 0 to below 1000000000")
        }
        if throttle?.bytes == 0 { throw ValidationError("--throttle takes 1 byte a second or more") }
    }

    func run() async throws {
        let folder = FilePath(site)
        try folder.requireSite()
        let server = DevelopmentServer(root: folder, port: port, conditions: conditions) {
            Console.note("fault: \($0)")
        }
        try await server.run { Console.answer($0) }
    }

    /// A bad network for testing an app.
    private var conditions: NetworkConditions {
        var conditions = NetworkConditions()
        conditions.bytesPerSecond = throttle?.bytes
        conditions.latency = .milliseconds(Int64(latency))
        conditions.failAfter = failAfter?.bytes
        conditions.truncation = truncate?.bytes ?? 0
        conditions.isStale = stale
        conditions.offlineAfter = offlineAfter.map { .seconds($0) }
        conditions.errorRate = errorRate
        conditions.seed = seed
        return conditions
    }
}
