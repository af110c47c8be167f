public import StrictJSON
public import VaultCrypto
import VaultErrors

/// Metadata whose signatures hold. It may still be old: see ``TrustChain`` for what may be believed now.
public protocol VerifiedMetadata: Sendable {
    var document: MetadataDocument { get }
}

extension VerifiedMetadata {
    /// From 1 on.
    public var version: Int64 { document.version }
    public var expires: UTCTime { document.expires }
    /// The file, exactly as received.
    public var bytes: [UInt8] { document.bytes }
    /// The SHA-256 of the file; roots are pinned by it.
    public var digest: SHA256Digest { SHA256.hash(bytes.span) }
    /// The whole signed part, members unknown to this library included.
    public var json: JSONObject { document.signed }

    /// Whether it must not be believed any more at this moment.
    public func hasExpired(at now: UTCTime) -> Bool {
        document.expires <= now
    }

    func requireCurrent(at now: UTCTime) throws(VaultError) {
        guard !hasExpired(at: now) else {
            throw .expired(
                expires, now: now, at: "\(document.place) (\(document.role) version \(version))")
        }
    }
}
