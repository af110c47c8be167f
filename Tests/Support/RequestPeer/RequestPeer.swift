// One of several processes that use a store by resource requests. It obeys lines on standard input, `TICKET COMMAND ARGUMENT…`, each in a
// task of its own, and answers each with one line, `TICKET ok…`, `TICKET no` or `TICKET error CATEGORY TEXT`.
//
//     request-peer SITE STORE ROOT KEYS LIMIT      LIMIT: bytes in access
//
//     begin NAME TAG…     conditional NAME TAG…    a request, by a name that the other side chose
//     priority NAME P     pause NAME               resume NAME      cancel NAME
//     end NAME            drop NAME                the end by the object's
//     read NAME PATH…     the SHA-256 of files, through the request
//     update TAG…         fetches the newest versions; without tags, of what is fetched without being asked
//     purge [FREE]        the packs that it removed
//     disk [BYTES]        what stays free on the disk, for what begins later
//     quit                ends all requests, and the process

import AssetVault
import Foundation
import Synchronization
import VaultCrypto
import VaultFileSystem

@main struct RequestPeer {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 6, let limit = UInt64(arguments[5]) else {
            throw VaultError(.usage, "SITE STORE ROOT KEYS LIMIT", at: "request-peer", remedy: "name them")
        }
        var configuration = VaultConfiguration(
            site: try SiteLocation(arguments[1]), store: StoreLayout(root: FilePath(arguments[2])),
            trustedRoot: try DurableFile.read(FilePath(arguments[3]), limit: 1 << 20),
            keys: FileKeyProvider(path: FilePath(arguments[4])))
        configuration.policy.accessedSize = limit
        configuration.retries.attempts = 2
        configuration.retries.firstBackoff = .milliseconds(2)
        let peer = try Peer(configuration)
        while let line = readLine() { peer.obey(line) }
    }
}

/// Obeys lines, several at once.
final class Peer: Sendable {
    private struct State {
        var client: VaultClient
        var requests: [String: ResourceRequest] = [:]
    }

    private let configuration: VaultConfiguration
    /// The one that begins with the process, and knows the site as it was then.
    private let first: VaultClient
    private let state: Mutex<State>
    private let output = Mutex(())

    init(_ configuration: VaultConfiguration) throws {
        self.configuration = configuration
        first = try VaultClient(configuration)
        state = Mutex(State(client: first))
    }

    func obey(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        guard words.count > 1 else { return }
        let (ticket, command, arguments) = (words[0], words[1], Array(words.dropFirst(2)))
        // Made before the next line is read, which may be meant for it.
        if ["begin", "conditional"].contains(command), let name = arguments.first {
            state.withLock { state in
                guard state.requests[name] == nil else { return }
                state.requests[name] = ResourceRequest(
                    tags: Set(arguments.dropFirst()), of: state.client)
            }
        }
        Task {
            var answer: String
            do throws(VaultError) { answer = try await obey(command, arguments) } catch {
                answer = "error \(error.category.rawValue) \(error)"
            }
            say("\(ticket) \(answer)")
        }
    }

    private func say(_ line: String) {
        output.withLock { _ in
            let bytes = Array((line + "\n").utf8)
            // The other side may be gone.
            try? OpenFile(duplicating: 1, named: "standard output").writeNext(bytes.span)
        }
    }

    private func obey(_ command: String, _ arguments: [String]) async throws(VaultError) -> String {
        let client = state.withLock { $0.client }
        switch command {
        case "update":
            _ = try await client.fetch(arguments.isEmpty ? .automatic : .tagged(Set(arguments)))
        case "purge":
            let removed = try await client.store.purge(until: arguments.first.flatMap { UInt64($0) })
            return (["ok"] + removed.map(\.id.description)).joined(separator: " ")
        case "disk": try keepFree(arguments.first.flatMap { UInt64($0) })
        case "drop": state.withLock { $0.requests[arguments.first ?? ""] = nil }
        case "quit": state.withLock { $0.requests = [:] }
        default: return try await obey(command, try request(arguments), Array(arguments.dropFirst()))
        }
        return "ok"
    }

    private func obey(
        _ command: String, _ request: ResourceRequest, _ arguments: [String]
    ) async throws(VaultError) -> String {
        switch command {
        case "begin": try await request.beginAccessing()
        case "conditional": return try await request.conditionallyBeginAccessing() ? "ok" : "no"
        case "end": request.endAccessing()
        case "priority":
            request.loadingPriority = arguments.first.flatMap { Double($0) }.map { .init($0) } ?? .urgent
        case "pause": request.pause()
        case "resume": request.resume()
        case "cancel": request.cancel()
        case "read":
            var digests: [String] = []
            for path in arguments { digests.append(try await digest(of: EntryPath(path), in: request)) }
            return (["ok"] + digests).joined(separator: " ")
        default: throw VaultError(.usage, "no such command", at: command, remedy: "use another one")
        }
        return "ok"
    }

    private func request(_ arguments: [String]) throws(VaultError) -> ResourceRequest {
        let name = arguments.first ?? ""
        guard let request = state.withLock({ $0.requests[name] }) else {
            throw VaultError(.missing, "no such request", at: name, remedy: "begin it")
        }
        return request
    }

    /// By both ways to a file, which must agree.
    private func digest(of path: EntryPath, in request: ResourceRequest) async throws(VaultError) -> String {
        let bytes = try await request.contents(of: path)
        let url = try await request.url(forResource: path)
        let file = try DurableFile.read(FilePath(url.path(percentEncoded: false)), limit: 1 << 24)
        guard file == bytes else {
            throw VaultError(.corrupt, "its URL has other bytes", at: path.string, remedy: "none")
        }
        return SHA256.hash(bytes.span).hex
    }

    private func keepFree(_ size: UInt64?) throws(VaultError) {
        var changed = configuration
        if let size { changed.policy.lowWaterMark = size }
        let client = size == nil ? first : try VaultClient(changed)
        state.withLock { $0.client = client }
    }
}
