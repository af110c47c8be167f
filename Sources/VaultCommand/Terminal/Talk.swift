import SystemPackage
import VaultErrors

/// Two voices: answers go to standard output, all other talk to standard error.
enum Talk {
    static func answer(_ text: String) {
        write(text + "\n", to: .standardOutput)
    }

    static func note(_ text: String) {
        write(text + "\n", to: .standardError)
    }

    static func error(_ error: VaultError) {
        note("assetvault: \(error)")
    }

    /// Raw bytes of an answer, such as JSON.
    static func answer(bytes: [UInt8]) {
        write(String(decoding: bytes, as: UTF8.self), to: .standardOutput)
    }

    static func write(_ text: String, to descriptor: FileDescriptor) {
        _ = try? descriptor.writeAll(text.utf8)
    }
}
