import Synchronization
import UpdateFramework
import VaultBase

/// Serves files from memory and records requests.
final class MemorySource: MetadataSource {
    private let files: [String: [UInt8]]
    private let failing: Set<String>
    private let log = Mutex<[String]>([])

    /// - Parameter failing: names of files that can't be read.
    init(_ files: [String: [UInt8]], failing: Set<String> = []) {
        self.files = files
        self.failing = failing
    }

    var requests: [String] { log.withLock { $0 } }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        log.withLock { $0.append(name) }
        if failing.contains(name) {
            throw VaultError(.unavailable, "connection reset", at: name, remedy: "try again")
        }
        return files[name]
    }
}
