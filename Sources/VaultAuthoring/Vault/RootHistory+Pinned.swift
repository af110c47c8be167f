import UpdateFramework
import VaultErrors
import VaultSite

extension RootHistory {
    /// All roots of a vault's site: also those before the pinned one. Verification without a pinned root begins with the first, and
    /// earlier ones name the keys of what was published then.
    ///
    /// - Parameters:
    ///   - known: roots that are among them.
    ///   - last: the version to read up to; nil reads all.
    init(
        of source: any MetadataSource, through known: [VerifiedRoot], upTo last: Int64? = nil
    ) async throws(VaultError) {
        guard let history = try await RootHistory(fromFirstRootOf: source, upTo: last) else {
            throw VaultError(
                .unavailable, "the host does not have it",
                at: source.place(of: MetadataRole.root.hostedName(version: 1)),
                remedy: "upload it again; a site always keeps all its roots")
        }
        for known in known where !history.roots.contains(where: { $0.digest == known.digest }) {
            throw VaultError(
                .untrusted, "its roots do not lead to the vault's root",
                at: source.place(of: MetadataRole.root.hostedName(version: known.version)),
                remedy: "do not use this host; upload all roots of your site again")
        }
        self = history
    }
}
