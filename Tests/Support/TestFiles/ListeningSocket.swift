import Foundation
import SystemPackage

/// A port of 127.0.0.1 that accepts connections and never answers; closed when this is released.
public final class ListeningSocket: Sendable {
    private let descriptor: Int32
    public let port: UInt16

    public init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                unsafe bind(descriptor, raw, size) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, raw, &size) == 0
            }
        }
        guard isListening else { throw Errno(rawValue: errno) }
        port = address.sin_port.bigEndian
    }

    deinit { close(descriptor) }

    /// Connections are refused from now on.
    public func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
