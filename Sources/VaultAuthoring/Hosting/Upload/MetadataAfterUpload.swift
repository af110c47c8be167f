import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem

/// The metadata as clients will find them after an upload: those of the site's folder, and beside them those of the destination.
struct MetadataAfterUpload: MetadataSource {
    let site: MetadataFolder
    let hosted: MetadataFolder
    let destination: any UploadDestination
    /// Roots above this version are left out.
    var lastRoot = Int64.max

    func metadata(named name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        if let file = MetadataFileName(hostedName: name), file.role == .root, file.version > lastRoot {
            return nil
        }
        if let bytes = try site.metadata(named: name, limit: limit) { return bytes }
        // The site decides what is newest, never the destination.
        return name == MetadataRole.timestamp.fileName ? nil : try hosted.metadata(named: name, limit: limit)
    }

    func place(of name: String) -> String {
        let isInSite = (try? FileSystem.exists(site.path.appending(name))) ?? true
        return !isInSite && name != MetadataRole.timestamp.fileName
            ? destination.place(of: "metadata/\(name)") : site.place(of: name)
    }
}

// MARK: - Refusals

extension MetadataAfterUpload {
    /// Roots of the destination from the first one on, without a gap; no client reads a root after a gap.
    func unbroken(_ roots: [MetadataFileName]) throws(VaultError) -> [MetadataFileName] {
        let hosted = Dictionary(roots.map { ($0.version, $0) }) { first, _ in first }
        let own = Set(try ownRoots())
        return (1...).prefix { hosted[$0] != nil || own.contains($0) }.compactMap { hosted[$0] }
    }

    private func ownRoots() throws(VaultError) -> [Int64] {
        try site.versions().filter { $0.role == .root }.map(\.version)
    }

    func requireNewestRoot(_ hosted: Int64) throws(VaultError) {
        let versions = try ownRoots()
        // The site of a CI machine has only what it wrote: without the first root its roots prove nothing.
        guard versions.contains(1), let newest = versions.max(), newest < hosted else { return }
        throw VaultError(
            .untrusted,
            "the site's newest root is version \(newest), and the destination has version \(hosted)",
            at: destination.name, remedy: RollbackCheck.again)
    }

    /// Throws `busy` where the site has other content under a number that the destination's newest state lists: it does not
    /// continue that state, even if its own version numbers are higher.
    func requireDescent(from seen: SeenMetadata, under roots: [VerifiedRoot]) throws(VaultError) {
        let snapshot = MetadataRole.snapshot.hostedName(version: seen.timestamp.snapshot.version)
        for name in [snapshot] + (seen.snapshot?.hostedNames ?? []) {
            guard let role = MetadataFileName(hostedName: name)?.role,
                role == .snapshot || role.listsOwnPacks
            else { continue }
            try requireSameBeginning(name, role) { found in
                roots.contains { $0.trust(in: role.type).isMet(by: found) }
            }
        }
    }

    /// Accepts the same content at the destination, or its beginning: an interrupted upload leaves a beginning, and this upload replaces
    /// it. Throws `busy` for signed content of another publisher, and `corrupt` for what nobody has signed.
    func requireSameBeginning(
        _ name: String, _ role: MetadataRole, isSigned: (UnverifiedMetadata) -> Bool
    ) throws(VaultError) {
        guard let theirs = try otherContent(of: name, role) else { return }
        let place = destination.place(of: "metadata/\(name)")
        if let found = try? UnverifiedMetadata(parsing: theirs, as: role, place: place), isSigned(found) {
            throw RollbackCheck.taken(name, at: place)
        }
        throw Self.damaged(place, "its content is not the site's, and has no valid signature")
    }

    /// The same for a root, which signs itself: `untrusted` for another one, and where that of the site is damaged; `corrupt` for the
    /// site's own with other signatures, and for what nobody has signed.
    func requireSameRoot(_ name: String) throws(VaultError) {
        guard let theirs = try otherContent(of: name, .root) else { return }
        let place = destination.place(of: "metadata/\(name)")
        let found = try? UnverifiedMetadata(parsing: theirs, as: .root, place: place)
        guard let found, (try? VerifiedRoot(pinning: found)) != nil else {
            throw Self.damaged(place, "its content is not the site's, and has no valid signature")
        }
        let ours = try VerifiedRoot(
            pinning: UnverifiedMetadata(
                parsing: site.metadata(named: name, limit: MetadataRole.root.sizeLimit) ?? [], as: .root,
                place: site.place(of: name)))
        guard ours.document.signed != found.document.signed else {
            throw Self.damaged(place, "its signatures are not those of the site's file")
        }
        throw VaultError(
            .untrusted,
            "the destination has another root under this number: it is another site's, or another publisher's",
            at: place, remedy: "check the destination; a root is never replaced")
    }

    private static func damaged(_ place: String, _ problem: String) -> VaultError {
        VaultError(
            .corrupt, "the destination's file is damaged: \(problem)", at: place,
            remedy: "remove it there, then upload again")
    }

    /// Nil where either has no such file, or the destination has the site's content or its beginning.
    private func otherContent(of name: String, _ role: MetadataRole) throws(VaultError) -> [UInt8]? {
        guard let ours = try site.metadata(named: name, limit: role.sizeLimit),
            let theirs = try hosted.metadata(named: name, limit: role.sizeLimit), !ours.starts(with: theirs)
        else { return nil }
        return theirs
    }
}
