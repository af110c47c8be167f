import UpdateFramework
import VaultBase
import VaultCrypto

/// Signs with a key that everybody knows: the first of RFC 8032, section 7.1. The seeds name its public half.
final class KnownSigner: Sendable {
    private let key: Ed25519PrivateKey
    let trust: RoleTrust
    /// Names the key for every role.
    let root: VerifiedRoot

    init() throws(VaultError) {
        let pem = """
            -----BEGIN PRIVATE KEY-----
            MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
            -----END PRIVATE KEY-----

            """
        let bytes = Array(pem.utf8)
        key = try Ed25519PrivateKey(pem: SecretBytes(copying: bytes.span))
        trust = RoleTrust([key.publicKey])
        var roles: [TopLevelRole: RoleTrust] = [:]
        for role in TopLevelRole.allCases { roles[role] = trust }
        let draft = try MetadataDraft.root(version: 1, expires: .latest, roles: roles)
        root = try VerifiedRoot(pinning: draft.signed(with: key).unverified)
    }

    func sign(_ metadata: SignedMetadata) throws(VaultError) -> SignedMetadata {
        try metadata.signed(with: key)
    }
}
