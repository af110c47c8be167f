import FaultServer
import Foundation
import Synchronization
import VaultBase
import VaultHTTP
import VaultTransport

/// Sends any bytes as a host's answer, then closes the connection. The first byte chooses the request: a whole file, a part
/// of one, or a small one without a signed length.
final class AnswerTarget: FuzzTarget {
    private static let length: UInt64 = 1000
    private let server: FaultServer
    private let answer = Answer()
    private let transport: HTTPTransport

    private final class Answer: Sendable {
        let bytes = Mutex<[UInt8]>([])
    }

    init() {
        do {
            server = try FaultServer { [answer] _ in [.bytes(answer.bytes.withLock { $0 }), .close] }
        } catch { fatalError("the fuzzer can't begin: \(error)") }
        var limits = TransportLimits()
        limits.connect = .seconds(2)
        limits.response = .milliseconds(500)
        limits.idle = .milliseconds(500)
        transport = HTTPTransport(limits: limits)
    }

    func read(_ input: [UInt8]) {
        answer.bytes.withLock { $0 = Array(input.dropFirst()) }
        let mode = (input.first ?? 0) % 3
        wait { [server, transport] in
            guard let location = try? SiteLocation(server.url) else { return }
            if mode == 2 {
                let bytes = try? await transport.bytes(at: location, limit: Int(Self.length))
                require((bytes?.count ?? 0) <= Self.length, "the limit holds")
                return
            }
            let file = RemoteFile(
                location, of: "file", length: Self.length, transport: transport, remedy: "none")
            guard let content = try? await file.open(mode == 0 ? nil : 100..<300) else { return }
            require(content.range.upperBound <= Self.length, "a range lies in the file")
            var count: UInt64 = 0
            do throws(VaultError) {
                for try await chunk in content.body { count += UInt64(chunk.count) }
            } catch {}
            require(count <= UInt64(content.range.count), "no more bytes arrive than were announced")
        }
    }
}
