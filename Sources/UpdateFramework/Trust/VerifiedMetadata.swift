public import StrictJSON
public import VaultCrypto
import VaultErrors

/// Metadata with verified signatures. It may still be outdated: see ``TrustChain``.
public protocol VerifiedMetadata: Sendable {
    var document: MetadataDocument { get }
}

extension VerifiedMetadata {
    /// At least 1.
    public var version: Int64 { document.version }
    public var expires: UTCTime { document.expires }
    /// The file, exactly as received.
    public var bytes: [UInt8] { document.bytes }
    /// The SHA-256 of the file, which roots are pinned by.
    public var digest: SHA256Digest { SHA256.hash(bytes.span) }
    /// The whole signed part, members unknown to this library included.
    public var json: JSONObject { document.signed }

    /// Whether it has expired at this time.
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
