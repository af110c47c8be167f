import SystemPackage
import UpdateFramework
import VaultCrypto
import VaultErrors
import VaultFileSystem
import VaultKeys

/// The signing keys that a vault has at hand: every PEM file in `keys/`. For which role a key signs is said by the
/// metadata that names it, not by the file's name.
struct SigningKeys {
    private let vault: VaultFolder
    private let keys: [SigningKey]
    /// Files that are no use, and why.
    private let failures: [(path: FilePath, error: VaultError)]

    init(of vault: VaultFolder, passphrase: PassphraseSource?) throws(VaultError) {
        self.vault = vault
        var keys: [SigningKey] = []
        var failures: [(path: FilePath, error: VaultError)] = []
        for name in try Folder(opening: vault.keys).names().map({ String(decoding: $0, as: UTF8.self) })
            .sorted()
        where name.hasSuffix(".pem") {
            let path = vault.keys.appending(name)
            do throws(VaultError) {
                keys.append(try SigningKey(reading: path, passphrase: passphrase))
            } catch {
                failures.append((path, error))
            }
        }
        self.keys = keys
        self.failures = failures
    }

    /// Signs with every key at hand that one of these names.
    func sign(_ file: SignedMetadata, for trusts: [RoleTrust]) throws(VaultError) -> SignedMetadata {
        var file = file
        for key in keys { file = try key.sign(file, for: trusts) }
        return file
    }

    /// The key in the role's own file, as `init` makes them.
    func ownKey(of role: MetadataRole) throws(VaultError) -> VerifyingKey {
        let path = vault.signingKey(of: role)
        if let key = keys.first(where: { $0.path == path }) { return key.publicKey }
        throw failures.first { $0.path == path }?.error
            ?? missing(role, remedy: "restore it from your backup")
    }

    /// Why a role can't be signed with the keys at hand.
    ///
    /// - Parameters:
    ///   - delegator: who names the keys, for the message.
    ///   - remedy: what else can be done than to bring the key.
    func failure(for role: MetadataRole, namedBy delegator: String, remedy: String) -> VaultError {
        let path = vault.signingKey(of: role)
        // A file that can't be read may hold the key that is missed, whatever its name.
        if let failure = failures.first(where: { $0.path == path }) ?? failures.first { return failure.error }
        guard let key = keys.first(where: { $0.path == path }) else { return missing(role, remedy: remedy) }
        return VaultError(
            .key, "it is not a key, or not enough of them, that \(delegator) names for this role",
            at: key.path.string, remedy: remedy)
    }

    private func missing(_ role: MetadataRole, remedy: String) -> VaultError {
        VaultError(
            .key, "the signing key of the role \(role) is not here", at: vault.signingKey(of: role).string,
            remedy: remedy)
    }
}
