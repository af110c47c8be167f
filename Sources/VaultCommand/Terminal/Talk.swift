import Synchronization
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// Two voices: answers go to standard output, all other talk to standard error.
enum Talk {
    /// The first answer that standard output did not take.
    private static let lost = Mutex<VaultError?>(nil)

    static func answer(_ text: String) {
        answer(bytes: Array((text + "\n").utf8))
    }

    /// Raw bytes of an answer, such as JSON.
    static func answer(bytes: [UInt8]) {
        do throws(VaultError) {
            try OutputRule.standardOutput().writeNext(bytes.span)
        } catch {
            lost.withLock { $0 = $0 ?? error }
        }
    }

    /// Throws when an answer was lost: a full disk is a failure here as anywhere.
    static func requireAnswered() throws(VaultError) {
        if let error = lost.withLock({ $0 }) { throw error }
    }

    static func note(_ text: String) {
        write(text + "\n", to: .standardError)
    }

    static func error(_ error: VaultError) {
        note("assetvault: \(error)")
    }

    static func write(_ text: String, to descriptor: FileDescriptor) {
        _ = try? descriptor.writeAll(text.utf8)
    }
}

extension Talk {
    /// Notes which metadata was written, and how it is to be uploaded.
    static func wrote(_ files: [String]) {
        guard !files.isEmpty else { return note("nothing changed") }
        let list = files.count > 12 ? "\(files.count) files of metadata" : files.joined(separator: ", ")
        guard files.contains(MetadataRole.timestamp.fileName) else {
            return note("wrote \(list); upload targets/ first, then metadata/")
        }
        let hasRoot = files.contains { $0.hasSuffix(".root.json") }
        note(
            "wrote \(list); upload targets/ first, \(hasRoot ? "then timestamp.json, roots last" : "timestamp.json last")"
        )
    }
}
