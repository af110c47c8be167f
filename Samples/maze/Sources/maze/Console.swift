import AssetVault
import Dispatch

/// Unbuffered, so that no output is lost when the game is killed.
enum Console {
    static func answer(_ text: String) { write(text + "\n", to: .standardOutput) }
    static func note(_ text: String) { write(text + "\n", to: .standardError) }

    static func write(_ text: String, to descriptor: FileDescriptor = .standardOutput) {
        _ = try? descriptor.writeAll(text.utf8)
    }

    /// The keys read from a file descriptor, until its end. A separate thread waits for them.
    static func keys(from descriptor: FileDescriptor) -> AsyncStream<Character> {
        AsyncStream { continuation in
            DispatchQueue(label: "keys").async {
                var byte: [UInt8] = [0]
                while let count = unsafe byte.withUnsafeMutableBytes({ try? unsafe descriptor.read(into: $0) }
                ),
                    count == 1
                {
                    continuation.yield(Character(Unicode.Scalar(byte[0])))
                }
                continuation.finish()
            }
        }
    }
}
