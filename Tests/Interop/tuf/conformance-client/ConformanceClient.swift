import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultHTTP
import VaultTransport

/// The client of this project behind the command line that TUF's conformance suite drives.
@main
struct ConformanceClient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "tuf-conformance-client")

    enum Task: String, ExpressibleByArgument {
        case initialize = "init"
        case refresh
        case download
    }

    @Option var metadataDir: String
    @Option var metadataUrl: String?
    @Option(parsing: .singleValue) var targetName: [String] = []
    @Option var targetBaseUrl: String?
    @Option var targetDir: String?
    @Argument var task: Task
    @Argument var trustedRoot: String?

    func run() async throws {
        let store = MetadataStore(folder: FilePath(metadataDir))
        switch task {
        case .initialize:
            let root = try DurableFile.read(
                FilePath(try given(trustedRoot)), limit: MetadataRole.root.sizeLimit)
            try await store.pin(root)
        case .refresh:
            _ = try await store.refresh(from: try repository(), now: .now)
        case .download:
            let repository = try repository()
            let chain = try await store.refresh(from: repository, now: .now)
            for name in targetName { try await download(name, chain, store, repository) }
        }
    }

    private func download(
        _ name: String, _ chain: TrustChain, _ store: MetadataStore, _ repository: Repository
    ) async throws {
        guard let record = try await store.lookup(from: repository, now: .now).target(at: name, in: chain)
        else {
            throw VaultError(.missing, "no such target", at: name, remedy: "check the name")
        }
        // A name of its own for every path, and none that leads out of the folder.
        let file = FilePath(try given(targetDir)).appending(PercentEncoding.encode(name))
        let cached = try? DurableFile.read(file, limit: Int(clamping: record.length))
        if let cached, (try? record.check(cached)) != nil { return }
        let content = try await repository.target(chain.hostedPath(of: record), limit: record.length)
        try record.check(content)
        try DurableFile.write(content.span, to: file, permissions: 0o644, replacing: true)
    }

    private func repository() throws -> Repository {
        Repository(metadata: try given(metadataUrl), targets: targetBaseUrl ?? "")
    }

    private func given<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw ValidationError("an argument is missing") }
        return value
    }
}

/// A repository at two URLs.
private struct Repository: MetadataSource {
    let metadata: String
    let targets: String
    private let transport = SchemeTransport()

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        let url = try SiteLocation(Self.join(metadata, name))
        do throws(VaultError) {
            return try await transport.bytes(at: url, limit: limit)
        } catch {
            guard error.category == .corrupt else { throw error }
            throw VaultError(.untrusted, error.problem, at: error.place, remedy: error.remedy)
        }
    }

    func target(_ path: String, limit: UInt64) async throws -> [UInt8] {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        let encoded = segments.map { PercentEncoding.encode(String($0)) }.joined(separator: "/")
        let url = try SiteLocation(Self.join(targets, encoded))
        guard let bytes = try await transport.bytes(at: url, limit: Int(clamping: limit)) else {
            throw VaultError(.unavailable, "the host does not have it", at: path, remedy: "try again")
        }
        return bytes
    }

    private static func join(_ base: String, _ name: String) -> String {
        base.hasSuffix("/") ? base + name : "\(base)/\(name)"
    }
}
