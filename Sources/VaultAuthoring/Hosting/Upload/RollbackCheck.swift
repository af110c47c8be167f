import UpdateFramework
import VaultBase
import VaultSite

/// Compares a site with the versions that clients of a destination may have seen.
///
/// A root that removes a key of the timestamp or the snapshot makes clients forget versions (TUF section 5.3.11), because a thief of
/// that key may have raised them. This check does not forget them: metadata that keys have signed which the newest root still names is
/// the publisher's own, so a site with lower versions is old.
struct RollbackCheck {
    static let again = "publish again with --against and the host's URL, then upload"
    /// For a number that is taken. It keeps new roots, which no host may have yet.
    private static let goingOn =
        again
        + "; where that is refused, remove the vault's .published, and all but *.root.json from the site's metadata/, before: no client has"
        + " seen their content"

    private let own: SeenMetadata
    private let seen: SeenMetadata?
    private let roots: [VerifiedRoot]
    private let destination: any UploadDestination
    /// Whether keys that the newest root names have signed the destination's timestamp, and its snapshot.
    private let (hasCurrentTimestamp, hasCurrentSnapshot): (Bool, Bool)
    /// Whether the destination's newest state is one of the publisher's own.
    var isOfPresentKeys: Bool { hasCurrentTimestamp && hasCurrentSnapshot }

    /// Nil for a site without a timestamp.
    ///
    /// - Parameters:
    ///   - own: of the site.
    ///   - seen: of the destination; nil where it has no timestamp.
    ///   - roots: all of them, lowest first.
    init?(
        of own: SeenMetadata?, after seen: SeenMetadata?, under roots: [VerifiedRoot],
        at destination: any UploadDestination
    ) throws(VaultError) {
        guard let own else { return nil }
        (self.own, self.seen, self.roots, self.destination) = (own, seen, roots, destination)
        func isCurrent(_ metadata: some VerifiedMetadata, _ role: TopLevelRole) throws(VaultError) -> Bool {
            let place = destination.place(of: "metadata/\(metadata.document.hostedName)")
            return try SignatureHistory(of: role, under: roots).standing(of: metadata, at: place) == .current
        }
        hasCurrentTimestamp =
            try seen.map { seen throws(VaultError) in
                try isCurrent(seen.timestamp, .timestamp)
            } ?? false
        hasCurrentSnapshot =
            try seen?.snapshot.map { snapshot throws(VaultError) in
                try isCurrent(snapshot, .snapshot)
            } ?? false
    }

    /// Throws `untrusted` where the destination's timestamp and snapshot are newer, as far as present keys have signed them; `busy` for
    /// another timestamp under the same number.
    func requireNotOlder() throws(VaultError) {
        guard let seen, hasCurrentTimestamp else { return }
        let place = destination.place(of: "metadata/\(MetadataRole.timestamp.fileName)")
        let (ours, theirs) = (own.timestamp, seen.timestamp)
        guard ours.version >= theirs.version else {
            throw VaultError(
                .untrusted,
                "the site's timestamp is version \(ours.version), and the destination has version \(theirs.version):"
                    + " clients would refuse the older one", at: place, remedy: Self.again)
        }
        guard ours.version > theirs.version || ours.digest == theirs.digest else {
            throw Self.taken("timestamp version \(ours.version)", at: place)
        }
        guard hasCurrentSnapshot else { return }
        do throws(VaultError) { try seen.requireNotOlder(own) } catch {
            throw VaultError(
                .untrusted, "clients of the destination would refuse the site: \(error.problem)",
                at: error.place, remedy: Self.again)
        }
    }

    static func taken(_ what: String, at place: String) -> VaultError {
        VaultError(
            .busy, "another publisher has taken \(what): the destination has other content", at: place,
            remedy: goingOn)
    }

    /// The site's replacement for a newer timestamp, which clients forget.
    var warnings: [Finding] {
        guard let seen, !hasCurrentTimestamp, own.timestamp.version < seen.timestamp.version,
            let newest = roots.last
        else { return [] }
        return [
            .warning(
                "forgotten-version",
                "the destination has timestamp version \(seen.timestamp.version), signed by keys that root version \(newest.version) does not name",
                at: "destination",
                remedy: "clients forget it: make sure that the site is your newest publication")
        ]
    }
}

// MARK: - Files that the timestamp does not vouch for

extension RollbackCheck {
    /// The number of files of a role that are read.
    private static let limit = 1024

    /// Throws `untrusted` where the destination's timestamp or snapshot is gone, or only removed keys have signed it, and other files
    /// there show that clients have seen a newer state: present keys have signed them.
    func requireNothingNewer(
        than tree: TargetTree, in hosted: inout HostedMetadata
    ) async throws(VaultError) {
        guard !hasCurrentTimestamp || !hasCurrentSnapshot else { return }
        let signers = signers(of: tree)
        let versions = tree.versions
        for (role, files) in hosted.newer(than: versions).sorted(by: { $0.key < $1.key }) {
            guard let version = versions[role.fileName], let signers = signers[role] else { continue }
            for (index, file) in files.prefix(Self.limit).enumerated() {
                if index % 16 == 0 {
                    try await hosted.fetch(files[index...].prefix(16).map(\.hostedName))
                }
                let found: UnverifiedMetadata?
                do throws(VaultError) { found = try hosted.folder.metadata(in: file) } catch {
                    // What is not this site's metadata shows nothing.
                    guard error.category != .io else { throw error }
                    continue
                }
                guard let found, found.document.version == file.version,
                    signers.standing(of: found) == .current
                else { continue }
                throw refusal(file, role, after: version)
            }
            if let first = files.first, files.count > Self.limit {
                throw VaultError(
                    .limit,
                    "there are \(files.count) files of \(role) above the site's version \(version), more than are looked at",
                    at: destination.place(of: "metadata/\(first.hostedName)"),
                    remedy: "find out who wrote them there, and remove them")
            }
        }
    }

    /// The keys that may have signed each role that the site lists.
    private func signers(of tree: TargetTree) -> [MetadataRole: SignatureHistory] {
        let own = SignatureHistory(of: .targets, under: roots)
        var signers = Dictionary(
            tree.chain.targets.allDelegations.map { ($0.role, SignatureHistory($0.trust)) }
        ) { first, _ in first }
        for role in tree.targetsRoles.map(\.document.role) where role.listsOwnPacks { signers[role] = own }
        signers[.snapshot] = SignatureHistory(of: .snapshot, under: roots)
        return signers
    }

    private func refusal(_ file: MetadataFileName, _ role: MetadataRole, after version: Int64) -> VaultError {
        let place = destination.place(of: "metadata/\(file.hostedName)")
        guard seen != nil else {
            return VaultError(
                .untrusted,
                "it has no timestamp any more, and is newer than the site: the site lists \(role) version \(version)",
                at: place,
                remedy:
                    "put the newest timestamp.json there again; remove the newer files there only if they were never published"
            )
        }
        return VaultError(
            .untrusted,
            "it is newer than the site, which lists \(role) version \(version), and keys have signed it that are still valid: a new"
                + " root does not make an old site the newest", at: place,
            remedy:
                "\(Self.goingOn); after a theft copy the host's metadata/ into the site instead, or replace the \(role.type) key as well"
        )
    }
}
