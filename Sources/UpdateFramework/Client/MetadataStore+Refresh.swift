import SystemPackage
public import VaultBase
import VaultCrypto

extension MetadataStore {
    /// Updates the trusted metadata: the whole workflow of section 5 for the top-level roles.
    ///
    /// Every file is stored as soon as it is verified; refused files are never stored, and the store stays usable.
    ///
    /// - Parameters:
    ///   - trustedRoot: a root file that the caller trusts. The first one is pinned; later ones must be in the same
    ///     chain of roots. It may be omitted once the store has a pin.
    ///   - now: the start of the update; nothing that expired before it is accepted.
    /// - Throws: `untrusted` for any refusal, `unavailable` when the source fails or a file is missing, `busy` when
    ///   another process has locked the store, `io` and `unwritable`.
    public func refresh(
        from source: any MetadataSource, trusting trustedRoot: [UInt8]? = nil, now: UTCTime
    ) async throws(VaultError) -> TrustChain {
        let chain = try await update(from: source, trusting: trustedRoot, now: now)
        await removeEarlier(supersededBy: chain)
        return chain
    }

    /// Like ``refresh``, but keeps superseded states. Takes no lock if nothing changes.
    func update(
        from source: any MetadataSource, trusting trustedRoot: [UInt8]? = nil, now: UTCTime
    ) async throws(VaultError) -> TrustChain {
        if let trustedRoot { try await pin(trustedRoot) }
        let given = try verifiedRoot(trustedRoot)
        let workflow = TrustWorkflow(source: source, storage: self, now: now)
        // Starts again when another process has changed the store meanwhile.
        for _ in 0..<8 {
            guard let stored = try await newestStoredRoots(),
                let roots = try await workflow.newestRoot(after: stored)
            else { continue }
            if let given { try await require(roots, toFollowFrom: given, source) }
            guard let chain = try await workflow.chain(under: roots.newest) else { continue }
            return chain
        }
        throw .overtaken(at: folder.string)
    }

    /// Throws `untrusted` when a root that the caller trusts and the stored one are not of one site: signatures must
    /// lead from the older to the newer. When roots between them are missing, nothing can be compared, and nothing is
    /// refused.
    ///
    /// - Parameter source: may have the roots between them.
    public func requireStoredRoot(
        agreeingWith trustedRoot: [UInt8], from source: any MetadataSource
    ) async throws(VaultError) {
        let given = try VerifiedRoot(trustedRootFile: trustedRoot)
        var roots = try storedRootChain()
        let newest = roots.newest.version
        guard given.version > newest else {
            // The roots between an older one and the pin come from the site, and may be missing offline: then nothing is
            // compared.
            var chain = RootChain(from: given)
            while try storedRoots.root(version: chain.newest.version) == nil, chain.newest.version < newest {
                let name = MetadataRole.root.hostedName(version: chain.newest.version + 1)
                var next = try storedRoots.root(version: chain.newest.version + 1)
                if next == nil {
                    next =
                        (try? await source.metadata(named: name, limit: MetadataRole.root.sizeLimit)) ?? nil
                }
                guard (try? chain.append(next, at: folder.string)) != nil else { return }
            }
            return try await require(roots, toFollowFrom: given, source)
        }
        guard given.version - newest <= RootHistory.limit else { return }
        while roots.newest.version + 1 < given.version {
            let name = MetadataRole.root.hostedName(version: roots.newest.version + 1)
            let next = try? await source.metadata(named: name, limit: MetadataRole.root.sizeLimit)
            // Roots from the source are trusted by their signatures only; invalid ones are ignored.
            guard (try? roots.append(next, at: source.place(of: name))) != nil else { return }
        }
        do throws(VaultError) { try roots.append(given.bytes, at: folder.string) } catch {
            guard error.category == .untrusted || error.category == .corrupt else { throw error }
            throw unrelatedRoot(given)
        }
    }

    func verifiedRoot(_ trustedRoot: [UInt8]?) throws(VaultError) -> VerifiedRoot? {
        guard let trustedRoot else { return nil }
        return try VerifiedRoot(trustedRootFile: trustedRoot)
    }

    /// The roots from the pin to the stored one, and later ones in the history left by a process that died before it
    /// replaced the stored root.
    private func newestStoredRoots() async throws(VaultError) -> RootChain? {
        let roots = try storedRootChain()
        guard try storedRoots.root(version: roots.newest.version + 1) != nil else { return roots }
        let workflow = TrustWorkflow(source: asSource, storage: self, now: .earliest)
        return try await workflow.newestRoot(after: roots)
    }

    /// The roots from the pin to the stored one.
    func storedRootChain() throws(VaultError) -> RootChain {
        let place = folder.appending(MetadataRole.root.fileName).string
        guard let bytes = try stored(.root) else {
            throw VaultError(
                .untrusted, "there is no trusted root for this site", at: place,
                remedy: "give the site's root file the first time", hint: .trustedRoot)
        }
        do throws(VaultError) {
            guard let first = try storedRoots.firstRoot() else {
                throw VaultError.malformedMetadata("the root history is missing", at: place)
            }
            var roots = RootChain(
                from: try VerifiedRoot(
                    pinning: UnverifiedMetadata(parsing: first, as: .root, place: place)))
            let stored = try UnverifiedMetadata(parsing: bytes, as: .root, place: place)
            while roots.newest.version < stored.document.version {
                try roots.append(storedRoots.root(version: roots.newest.version + 1), at: place)
            }
            guard roots.newest.bytes == bytes else {
                throw VaultError.malformedMetadata("the pinned root does not lead to it", at: place)
            }
            return roots
        } catch {
            guard error.category == .untrusted || error.category == .corrupt else { throw error }
            throw VaultError(
                .untrusted, "the stored root is damaged: \(error.problem)", at: place,
                remedy: "remove \(folder.string) and pin the site's root again", hint: .trustedRoot)
        }
    }

    /// Signatures must lead from the given root to the newest one. Usually it is one of those just verified; a root
    /// older than the pin leads to the pin by roots that come from the site.
    private func require(
        _ roots: RootChain, toFollowFrom given: VerifiedRoot, _ source: any MetadataSource
    ) async throws(VaultError) {
        var chain = RootChain(from: given)
        do throws(VaultError) {
            while !roots.contains(chain.newest), chain.newest.version < roots.newest.version {
                let version = chain.newest.version + 1
                var next = try storedRoots.root(version: version)
                if next == nil {
                    next = try await source.metadata(
                        named: MetadataRole.root.hostedName(version: version),
                        limit: MetadataRole.root.sizeLimit)
                }
                try chain.append(next, at: folder.string)
            }
        } catch {
            guard error.category == .untrusted || error.category == .corrupt else { throw error }
            throw unrelatedRoot(given)
        }
        guard roots.contains(chain.newest) else { throw unrelatedRoot(given) }
    }

    private func unrelatedRoot(_ given: VerifiedRoot) -> VaultError {
        VaultError(
            .untrusted,
            "no signatures connect the given root, version \(given.version) with SHA-256 \(given.digest.hex), with the one that this store trusts",
            at: folder.string, remedy: "give no other root, or use a new store for another site",
            hint: .trustedRoot)
    }
}
