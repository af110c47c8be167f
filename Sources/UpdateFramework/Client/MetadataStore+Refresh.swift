import SystemPackage
import VaultCrypto
public import VaultErrors

extension MetadataStore {
    /// Brings the trusted metadata up to date: the whole workflow of section 5 for the top-level roles.
    ///
    /// Every file is stored as soon as it is verified; what is refused is never stored, and the store stays
    /// usable.
    ///
    /// - Parameters:
    ///   - trustedRoot: a root file that the caller vouches for. The first one is pinned; later ones must be
    ///     roots of the chain that began there. It may be left away once the store has a pin.
    ///   - now: the moment at which the update begins; nothing that expired before it is believed.
    /// - Throws: ``VaultErrors/VaultError`` of category `untrusted` for any refusal, `unavailable` when the
    ///   source fails or lacks a file, `busy` when another process holds the store, `io` and `unwritable`.
    public func refresh(
        from source: any MetadataSource, trusting trustedRoot: [UInt8]? = nil, now: UTCTime
    ) async throws(VaultError) -> TrustChain {
        if let trustedRoot { try await pin(trustedRoot) }
        let workflow = TrustWorkflow(source: source, keeper: self, now: now)
        // Begins again when another process has changed the store meanwhile.
        for _ in 0..<8 {
            guard let root = try await workflow.newestRoot(from: try storedRoot()) else { continue }
            if let trustedRoot { try await require(root, toFollowFrom: trustedRoot, source) }
            if let chain = try await workflow.chain(under: root) { return chain }
        }
        throw .overtaken(at: folder.string)
    }

    /// Throws `untrusted` unless the signatures lead from a root that the caller vouches for to the stored one.
    public func requireStoredRoot(toFollowFrom trustedRoot: [UInt8]) async throws(VaultError) {
        try await require(storedRoot(), toFollowFrom: trustedRoot, asSource)
    }

    /// The stored root, verified from the pin on: each root by the signatures of the one before it.
    private func storedRoot() throws(VaultError) -> VerifiedRoot {
        let place = folder.appending(MetadataRole.root.fileName).string
        guard let bytes = try kept(.root) else {
            throw VaultError(
                .untrusted, "no trusted root is known for this site", at: place,
                remedy: "give the site's root file the first time (--trust ROOT.json)")
        }
        do throws(VaultError) {
            guard let first = try storedRoots.firstRoot() else {
                throw VaultError.untrusted("the roots that led to it are missing", at: place)
            }
            var root = try VerifiedRoot(
                pinning: UnverifiedMetadata(parsing: first, as: .root, place: place))
            let stored = try UnverifiedMetadata(parsing: bytes, as: .root, place: place)
            while root.version < stored.document.version {
                root = try successor(of: root, storedRoots.root(version: root.version + 1), at: place)
            }
            guard root.bytes == bytes else {
                throw VaultError.untrusted("the pinned root does not lead to it", at: place)
            }
            return root
        } catch {
            guard error.category == .untrusted || error.category == .corrupt else { throw error }
            throw VaultError(
                .untrusted, "the stored root is damaged: \(error.problem)", at: place,
                remedy: "remove \(folder.string) and pin the site's root again (--trust ROOT.json)")
        }
    }

    /// A root that the caller vouches for must lead to the present one by signatures alone: what the store says of its own
    /// past does not count. Roots that it does not have come from the site.
    private func require(
        _ newest: VerifiedRoot, toFollowFrom trustedRoot: [UInt8], _ source: any MetadataSource
    ) async throws(VaultError) {
        var root = try VerifiedRoot(vouchedFor: trustedRoot)
        let digest = root.digest
        do throws(VaultError) {
            while root.version < newest.version, newest.version - root.version <= TrustWorkflow.rootLimit {
                var next = try storedRoots.root(version: root.version + 1)
                if next == nil {
                    let name = MetadataRole.root.hostedName(version: root.version + 1)
                    next = try await source.metadata(named: name, limit: MetadataRole.root.sizeLimit)
                }
                root = try successor(of: root, next, at: folder.string)
            }
        } catch {
            guard error.category == .untrusted || error.category == .corrupt else { throw error }
            throw isAnother(digest)
        }
        guard root.bytes == newest.bytes else { throw isAnother(digest) }
    }

    private func successor(of root: VerifiedRoot, _ next: [UInt8]?, at place: String) throws(VaultError)
        -> VerifiedRoot
    {
        guard let next else {
            throw .untrusted("root version \(root.version + 1) is missing", at: place)
        }
        return try root.successor(
            verifying: UnverifiedMetadata(parsing: next, as: .root, place: place))
    }

    private func isAnother(_ digest: Digest) -> VaultError {
        VaultError(
            .untrusted,
            "the signatures don't lead from the given root, with SHA-256 \(digest.hex), to the one that this store trusts",
            at: folder.string, remedy: "leave --trust away, or use a new store for another site")
    }
}
