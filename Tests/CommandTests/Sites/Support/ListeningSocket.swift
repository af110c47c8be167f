import Foundation
import Testing

/// A free port of 127.0.0.1, listened on until this goes away.
final class ListeningSocket: Sendable {
    private let descriptor: Int32
    let port: UInt16

    init() throws {
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
        try #require(isListening, "can't listen on 127.0.0.1")
        port = address.sin_port.bigEndian
    }

    deinit { close(descriptor) }

    /// Hands each connection to `serve` in a thread of its own.
    func serve(_ serve: @escaping @Sendable (borrowing Connection) -> Void) {
        Thread.detachNewThread { [descriptor] in
            while case let accepted = accept(descriptor, nil, nil), accepted >= 0 {
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread { serve(Connection(accepted)) }
            }
        }
    }

    /// Lets `serve` take no more connections.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    struct Connection: ~Copyable {
        private let descriptor: Int32

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { close(descriptor) }

        /// All lines up to the first empty one; nil when the other side goes away before.
        func readHead() -> [String]? {
            var received: [UInt8] = []
            var byte: UInt8 = 0
            while !received.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                guard unsafe recv(descriptor, &byte, 1, 0) == 1 else { return nil }
                received.append(byte)
            }
            return String(decoding: received, as: UTF8.self).split(separator: "\r\n").map(String.init)
        }

        /// Returns how many bytes were taken before the other side went away.
        func send(_ bytes: ArraySlice<UInt8>) -> Int {
            var done = 0
            while done < bytes.count {
                let count = unsafe bytes.dropFirst(done).withUnsafeBytes {
                    unsafe Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return done }
                done += count
            }
            return done
        }
    }
}
