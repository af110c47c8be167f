public import VaultErrors

extension TargetTree {
    /// What the site published under an earlier snapshot, as far as a source still has it, however long ago it expired. For
    /// publishers alone: clients accept no earlier state.
    ///
    /// Snapshot and top-level targets are verified under the newest of `roots` that named their keys, delegated roles by the
    /// delegations of then. Those that fail, or are gone, are ``refusals``.
    ///
    /// - Parameter roots: of the site.
    /// - Returns: nil where the source has no such snapshot.
    public func earlier(
        snapshot version: Int64, in source: any MetadataSource, under roots: [VerifiedRoot]
    ) async throws(VaultError) -> TargetTree? {
        guard let snapshot = try await source.unverified(.snapshot, version: version) else { return nil }
        let verifiedSnapshot = try Self.verifying(under: roots) { root throws(VaultError) in
            try VerifiedSnapshot(verifying: snapshot, under: root)
        }
        let reference = verifiedSnapshot.targets
        let name = MetadataRole.targets.hostedName(version: reference.version)
        guard let targets = try await source.unverified(.targets, version: reference.version) else {
            throw VaultError(
                .missing, "snapshot version \(version) lists it, and it is kept no longer",
                at: source.place(of: name), remedy: "restore it from a backup, or choose another snapshot")
        }
        try reference.check(targets.document.bytes, at: name)
        let verifiedTargets = try Self.verifying(under: roots) { root throws(VaultError) in
            try VerifiedTargets(verifying: targets, under: root)
        }
        let earlier = TrustChain(
            root: chain.root, timestamp: chain.timestamp, snapshot: verifiedSnapshot,
            targets: verifiedTargets, isContested: false)
        return try await TrustWorkflow(source: source, storage: InitialTrust(), now: .earliest).tree(
            of: earlier)
    }

    /// The newest root counts first; its error is thrown where all refuse.
    private static func verifying<Metadata>(
        under roots: [VerifiedRoot], _ verify: (VerifiedRoot) throws(VaultError) -> Metadata
    ) throws(VaultError) -> Metadata {
        var first: VaultError?
        for root in roots.reversed() {
            do throws(VaultError) { return try verify(root) } catch { first = first ?? error }
        }
        throw first ?? .malformedMetadata("no root was given", at: MetadataRole.root.fileName)
    }
}

extension MetadataSource {
    /// One version of a role's file, which has the version that its name says; its signatures not verified. Nil when the source does
    /// not have it.
    fileprivate func unverified(
        _ role: MetadataRole, version: Int64
    ) async throws(VaultError) -> UnverifiedMetadata? {
        guard let metadata = try await metadata(of: role, version: version) else { return nil }
        guard metadata.document.version == version else {
            throw .inconsistentMetadata(
                "its version is \(metadata.document.version)",
                at: place(of: role.hostedName(version: version)))
        }
        return metadata
    }
}
