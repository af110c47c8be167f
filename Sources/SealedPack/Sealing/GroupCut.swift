import VaultArchive
import VaultCrypto
import VaultErrors

/// Where a group of small files ends: before one file in sixteen, chosen by its path under the cut key, so that
/// editing, adding or removing one file never moves the cut of another group.
struct GroupCut: ~Copyable {
    /// Files below this size share pieces with their neighbours.
    static let smallFile = 64 << 10
    /// A group never passes this size.
    static let maximumGroup = 256 << 10

    private var authenticator: HMACSHA256

    init(key: borrowing SecretBytes) throws(VaultError) {
        authenticator = HMACSHA256(key: key)
    }

    /// Whether the first byte of HMAC-SHA-256(cut key, "path" || 0x00 || path) is below 16.
    mutating func startsGroup(_ path: EntryPath) -> Bool {
        let message = Array("path".utf8) + [0] + path.utf8Bytes
        return authenticator.authenticate(message.span).bytes.first.map { $0 < 16 } ?? false
    }
}
