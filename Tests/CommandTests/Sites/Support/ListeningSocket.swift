import Foundation
import Testing

/// A free port of 127.0.0.1, where nobody answers while this is there, and nobody listens afterwards.
final class ListeningSocket: Sendable {
    private let manifest: Int32
    let port: UInt16

    init() throws {
        let manifest = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.manifest = manifest
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                unsafe bind(manifest, raw, size) == 0 && listen(manifest, 64) == 0
                    && getsockname(manifest, raw, &size) == 0
            }
        }
        try #require(isListening, "can't listen on 127.0.0.1")
        port = address.sin_port.bigEndian
    }

    deinit { close(manifest) }

    /// Connections are refused from now on.
    func stop() { shutdown(manifest, Int32(SHUT_RDWR)) }
}
