import VaultAuthoring
import VaultErrors

extension Hint {
    /// What the reader writes on the command line.
    var words: String {
        switch self {
        case .trustedRoot: "--trust ROOT.json"
        case .replacing: "--force"
        case .followingLinks: "'seal --follow-links', or \"followLinks\": true in vault.json"
        case .unpackingLimit: "--max-unpacked BYTES"
        case .evidence: "--manifest FILE, or --site URL-or-DIR with --trust ROOT.json"
        case .pruning: "assetvault prune"
        case .pruningToLastVersions: "assetvault prune --keep 1"
        case .allowingOlder: "assetvault promote --allow-older"
        case .acceptingRemovedKeys: "assetvault restore --accept-removed-keys"
        case .releasing(let channel): "assetvault restore VAULT --channel \(channel) --latest"
        case .publishingFromHost: "--against URL"
        case .signing: "assetvault trust sign"
        case .rotation(let role, let vault): "assetvault trust rotate \(vault) \(role)"
        case .publishing: "assetvault publish"
        case .makingVaultKey: "assetvault keygen"
        case .makingVault: "assetvault init VAULT"
        case .accessLimit: "--in-use BYTES"
        case .givingKey: "give its key with --keys SPEC"
        case .openingPacks(let packs, let store):
            GivenCommand.line(of: ["unlock"] + packs + store + ["--keys", "SPEC", "--opened"])
        case .passphrase: "--passphrase env:NAME"
        }
    }
}

extension VaultError {
    /// The error with the command's words in its remedy.
    var worded: VaultError {
        guard let hint else { return self }
        return with(remedy: "\(remedy) (\(hint.words))")
    }
}
