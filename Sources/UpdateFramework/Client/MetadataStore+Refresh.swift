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
            if let trustedRoot { try requireKnown(trustedRoot) }
            if let chain = try await workflow.chain(under: root) { return chain }
        }
        throw .overtaken(at: folder.string)
    }

    private func storedRoot() throws(VaultError) -> VerifiedRoot {
        let place = folder.appending(MetadataRole.root.fileName).string
        guard let bytes = try kept(.root) else {
            throw VaultError(
                .untrusted, "no trusted root is known for this site", at: place,
                remedy: "give the site's root file the first time (--trust ROOT.json)")
        }
        // What somebody else put there is none of this store's roots, however well it is signed.
        guard try trustedRoots().contains(SHA256.hash(bytes.span)) else {
            throw VaultError(
                .untrusted, "the stored root is damaged: it is not listed among those trusted here",
                at: place,
                remedy: "remove \(folder.string) and pin the site's root again (--trust ROOT.json)")
        }
        do throws(VaultError) {
            return try VerifiedRoot(pinning: UnverifiedMetadata(parsing: bytes, as: .root, place: place))
        } catch {
            throw VaultError(
                .untrusted, "the stored root is damaged: \(error.problem)", at: place,
                remedy: "remove \(folder.string) and pin the site's root again (--trust ROOT.json)")
        }
    }

    private func requireKnown(_ root: [UInt8]) throws(VaultError) {
        let digest = SHA256.hash(root.span)
        guard try trustedRoots().contains(digest) else {
            throw VaultError(
                .untrusted, "this store trusts another root than the one with SHA-256 \(digest.hex)",
                at: folder.string, remedy: "leave --trust away, or use a new store for another site")
        }
    }
}
