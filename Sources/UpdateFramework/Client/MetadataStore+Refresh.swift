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
        let given = try vouchedFor(trustedRoot)
        let workflow = TrustWorkflow(source: source, keeper: self, now: now)
        // Begins again when another process has changed the store meanwhile.
        for _ in 0..<8 {
            guard let stored = try await newestStoredRoots(),
                let roots = try await workflow.newestRoot(after: stored)
            else { continue }
            if let given { try await require(roots, toFollowFrom: given, source) }
            if let chain = try await workflow.chain(under: roots.newest) { return chain }
        }
        throw .overtaken(at: folder.string)
    }

    /// Throws `untrusted` where a root that the caller vouches for and the stored one are not of one site: the signatures must
    /// lead from the older of them to the newer. Where roots between the stored one and a newer one are missing, nothing
    /// can be compared, and nothing is refused.
    ///
    /// - Parameter source: has the roots between them, perhaps.
    public func requireStoredRoot(
        agreeingWith trustedRoot: [UInt8], from source: any MetadataSource
    ) async throws(VaultError) {
        let given = try VerifiedRoot(vouchedFor: trustedRoot)
        var roots = try storedRootChain()
        let newest = roots.newest.version
        guard given.version > newest else {
            // An older root than the pin leads to it by roots that may be missing offline: then nothing can be compared either.
            var way = RootChain(from: given)
            while try storedRoots.root(version: way.newest.version) == nil, way.newest.version < newest {
                let name = MetadataRole.root.hostedName(version: way.newest.version + 1)
                var next = try storedRoots.root(version: way.newest.version + 1)
                if next == nil {
                    next =
                        (try? await source.metadata(named: name, limit: MetadataRole.root.sizeLimit)) ?? nil
                }
                guard (try? way.append(next, at: folder.string)) != nil else { return }
            }
            return try await require(roots, toFollowFrom: given, source)
        }
        guard given.version - newest <= TrustWorkflow.rootLimit else { return }
        while roots.newest.version + 1 < given.version {
            let name = MetadataRole.root.hostedName(version: roots.newest.version + 1)
            let next = try? await source.metadata(named: name, limit: MetadataRole.root.sizeLimit)
            // What the source has is believed by its signatures alone, and contradicts nobody.
            guard (try? roots.append(next, at: source.place(of: name))) != nil else { return }
        }
        do throws(VaultError) { try roots.append(given.bytes, at: folder.string) } catch {
            guard error.category == .untrusted || error.category == .corrupt else { throw error }
            throw isAnother(given)
        }
    }

    func vouchedFor(_ trustedRoot: [UInt8]?) throws(VaultError) -> VerifiedRoot? {
        guard let trustedRoot else { return nil }
        return try VerifiedRoot(vouchedFor: trustedRoot)
    }

    /// The roots from the pin to the stored one, or to those after it that were kept already by a process that died before it
    /// replaced the stored one.
    private func newestStoredRoots() async throws(VaultError) -> RootChain? {
        let roots = try storedRootChain()
        guard try storedRoots.root(version: roots.newest.version + 1) != nil else { return roots }
        let workflow = TrustWorkflow(source: asSource, keeper: self, now: .earliest)
        return try await workflow.newestRoot(after: roots)
    }

    /// The roots from the pin to the stored one.
    private func storedRootChain() throws(VaultError) -> RootChain {
        let place = folder.appending(MetadataRole.root.fileName).string
        guard let bytes = try kept(.root) else {
            throw VaultError(
                .untrusted, "no trusted root is known for this site", at: place,
                remedy: "give the site's root file the first time", hint: .trustedRoot)
        }
        do throws(VaultError) {
            guard let first = try storedRoots.firstRoot() else {
                throw VaultError.untrusted("the roots that led to it are missing", at: place)
            }
            var roots = RootChain(
                from: try VerifiedRoot(
                    pinning: UnverifiedMetadata(parsing: first, as: .root, place: place)))
            let stored = try UnverifiedMetadata(parsing: bytes, as: .root, place: place)
            while roots.newest.version < stored.document.version {
                try roots.append(storedRoots.root(version: roots.newest.version + 1), at: place)
            }
            guard roots.newest.bytes == bytes else {
                throw VaultError.untrusted("the pinned root does not lead to it", at: place)
            }
            return roots
        } catch {
            guard error.category == .untrusted || error.category == .corrupt else { throw error }
            throw VaultError(
                .untrusted, "the stored root is damaged: \(error.problem)", at: place,
                remedy: "remove \(folder.string) and pin the site's root again", hint: .trustedRoot)
        }
    }

    /// A root that the caller vouches for must lead to the newest one by signatures alone. As a rule it is one of those that
    /// were just verified; an earlier one than the pin leads to the pin, by roots that come from the site.
    private func require(
        _ roots: RootChain, toFollowFrom given: VerifiedRoot, _ source: any MetadataSource
    ) async throws(VaultError) {
        var way = RootChain(from: given)
        do throws(VaultError) {
            while !roots.contains(way.newest), way.newest.version < roots.newest.version,
                way.newest.version - given.version < TrustWorkflow.rootLimit
            {
                let version = way.newest.version + 1
                var next = try storedRoots.root(version: version)
                if next == nil {
                    next = try await source.metadata(
                        named: MetadataRole.root.hostedName(version: version),
                        limit: MetadataRole.root.sizeLimit)
                }
                try way.append(next, at: folder.string)
            }
        } catch {
            guard error.category == .untrusted || error.category == .corrupt else { throw error }
            throw isAnother(given)
        }
        guard roots.contains(way.newest) else { throw isAnother(given) }
    }

    private func isAnother(_ given: VerifiedRoot) -> VaultError {
        VaultError(
            .untrusted,
            "no signatures lead from one to the other: the given root, version \(given.version) with SHA-256 \(given.digest.hex), and the one that this store trusts",
            at: folder.string, remedy: "give no other root, or use a new store for another site",
            hint: .trustedRoot)
    }
}
