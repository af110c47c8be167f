import UpdateFramework
import VaultBase

/// The metadata of a site's folder as they were before damage: each file is the folder's own if keys of the site have signed it, else that
/// of another host. All of it is verified again by whoever reads it.
struct SoundMetadata: MetadataSource {
    let own: MetadataFolder
    private let host: any MetadataSource
    /// From the first one on that either has.
    let roots: [VerifiedRoot]
    /// Teams whose files come from the host. Their keys are not known here: the verification of all metadata finds what is damaged.
    var rolesOfHost: Set<MetadataRole> = []

    /// - Parameter pinned: a root that the site is verified from.
    init(in own: MetadataFolder, or host: any MetadataSource, pinned: VerifiedRoot) async {
        (self.own, self.host) = (own, host)
        var roots = [pinned]
        while let newest = roots.last, roots.count < RootHistory.limit,
            let next = await Self.first(
                of: newest.version + 1, own, host, where: { try? newest.successor(verifying: $0) })
        { roots.append(next) }
        while let oldest = roots.first, oldest.version > 1, roots.count < RootHistory.limit,
            let before = await Self.first(
                of: oldest.version - 1, own, host, where: { $0.root(before: oldest) })
        { roots.insert(before, at: 0) }
        self.roots = roots
    }

    private static func first(
        of version: Int64, _ own: MetadataFolder, _ host: any MetadataSource,
        where verified: (UnverifiedMetadata) -> VerifiedRoot?
    ) async -> VerifiedRoot? {
        if let found = try? await own.metadata(of: .root, version: version), let root = verified(found) {
            return root
        }
        return (try? await host.metadata(of: .root, version: version)).flatMap { $0 }.flatMap(verified)
    }

    func metadata(named name: String, limit: Int) async throws(VaultError) -> [UInt8]? {
        if let file = MetadataFileName(hostedName: name), file.role == .root {
            return roots.first { $0.version == file.version }?.bytes
        }
        let found = try? own.metadata(named: name, limit: limit)
        if let found, isSound(found, named: name) { return found }
        do throws(VaultError) {
            return try await host.metadata(named: name, limit: limit) ?? found
        } catch {
            guard let found else { throw error }
            return found
        }
    }

    func place(of name: String) -> String { own.place(of: name) }

    /// Whether any earlier file can be judged: what a root before those that are known has signed seems damaged.
    var hasAllRoots: Bool { roots.first?.version == 1 }

    /// Whether the site's folder has a timestamp that says what is newest.
    var hasTimestamp: Bool {
        let role = MetadataRole.timestamp
        let found = try? own.metadata(named: role.fileName, limit: role.sizeLimit)
        return found.map { isSound($0, named: role.fileName) } ?? false
    }

    /// Whether keys of the site have signed a file: the timestamp under the newest of its roots, others under any.
    func isSound(_ bytes: [UInt8], named name: String) -> Bool {
        let file = MetadataFileName(hostedName: name)
        guard let role = file?.role ?? (name == MetadataRole.timestamp.fileName ? .timestamp : nil),
            let found = try? UnverifiedMetadata(parsing: bytes, as: role, place: name),
            file == nil || file?.version == found.document.version
        else { return false }
        if role.topLevel == nil, !OwnRoles.contains(role) { return !rolesOfHost.contains(role) }
        // The newest root decides who signs the timestamp, which alone has no number.
        let deciding = role.topLevel == .timestamp ? roots.suffix(1) : roots[...]
        return deciding.contains { $0.trust(in: role.type).isMet(by: found) }
    }
}

extension UnverifiedMetadata {
    /// The same as a root, if the next one follows from it.
    fileprivate func root(before next: VerifiedRoot) -> VerifiedRoot? {
        guard let root = try? VerifiedRoot(pinning: self), root.version == next.version - 1,
            let following = try? UnverifiedMetadata(parsing: next.bytes, as: .root, place: "root"),
            (try? root.successor(verifying: following)) != nil
        else { return nil }
        return root
    }
}
