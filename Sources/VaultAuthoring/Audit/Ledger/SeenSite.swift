import SystemPackage
import UpdateFramework
import VaultBase
import VaultSite
import VaultTransport

/// The metadata that one audit has verified, for a comparison with what earlier ones have.
struct SeenSite {
    /// Roots that follow on each other, the lowest first: all of them where the site has its first one.
    let roots: [VerifiedRoot]
    /// All verified roles but the root.
    let documents: [MetadataDocument]
    let snapshotVersion: Int64
    private let site: Site

    init(_ tree: TargetTree, at site: Site, pinnedRoot: VerifiedRoot?) async {
        self.site = site
        let chain = tree.chain
        snapshotVersion = chain.snapshot.version
        documents =
            [chain.timestamp.document, chain.snapshot.document] + tree.targetsRoles.map(\.document)
        let all = (try? await RootHistory(fromFirstRootOf: site, upTo: chain.root.version)?.roots) ?? []
        if all.last?.digest == chain.root.digest {
            roots = all
        } else {
            roots = [pinnedRoot, chain.root].compactMap(\.self)
        }
    }

    var place: String { site.location.description }

    func place(of document: MetadataDocument) -> String { site.place(of: document.hostedName) }

    /// Earlier versions that a folder keeps, and their bytes; nothing of a host, whose files can't be listed.
    func keptFiles(
        among names: some Sequence<MetadataFileName>
    ) -> [(name: MetadataFileName, bytes: [UInt8], place: String)] {
        guard let path = site.location.path else { return [] }
        let folder = MetadataFolder(path.appending("metadata"))
        return names.compactMap { name in
            guard let role = name.role,
                let bytes = try? folder.metadata(named: name.hostedName, limit: role.sizeLimit)
            else { return nil }
            return (name, bytes, folder.place(of: name.hostedName))
        }
    }
}

extension AuditState {
    /// - Throws: `untrusted` for another site, before anything is changed.
    mutating func compare(_ site: SeenSite, stateFile: String) throws(VaultError) -> [Finding] {
        let roots = site.roots.map(\.document)
        // Sites are told apart by the lowest root that is known of both.
        if let root = roots.first(where: { metadata[$0.fileName] != nil }),
            metadata[root.fileName] != Metadata(root.bytes)
        {
            throw VaultError(
                .untrusted,
                "its root version \(root.version) is not the one of the site that \(stateFile) remembers",
                at: site.place(of: root),
                remedy: "use another file for another site; if it is the same site, don't trust its host",
                code: "other-site")
        }
        var findings = forgetVersions(of: site)
        let documents = roots.suffix(1) + site.documents
        findings += documents.compactMap { rollback(to: $0, of: site) }
        findings += (roots + site.documents).compactMap { change(of: $0, of: site) }
        findings += changesOfKeptFiles(of: site)
        if findings.allSatisfy({ $0.code != "rolled-back" }) {
            // A role that is gone may come back with its first version.
            let present = Set(documents.map(\.role.fileName))
            versions = versions.filter { present.contains($0.key) }
        }
        for document in documents {
            versions[document.role.fileName] = max(
                versions[document.role.fileName] ?? 0, document.version)
        }
        for document in roots + site.documents where metadata[document.fileName] == nil {
            metadata[document.fileName] = Metadata(document.bytes)
        }
        return findings
    }

    /// A new root may remove the keys of a role with which a thief has raised its version, and let clients forget that.
    private mutating func forgetVersions(of site: SeenSite) -> [Finding] {
        guard let root = versions[MetadataRole.root.fileName] else { return [] }
        let forgotten = site.documents.filter { document in
            document.role.topLevel.map { site.roots.mayLower($0, since: root) }
                ?? site.roots.resetsVersions(since: root)
        }
        let lowered = forgotten.filter { $0.version < versions[$0.role.fileName] ?? 0 }
        let names = Set(forgotten.map(\.role.fileName))
        versions = versions.filter { !names.contains($0.key) }
        metadata = metadata.filter { !names.contains($0.key.unversionedName) }
        return lowered.map { document in
            .warning(
                "forgotten-version",
                "\(document.role) version \(document.version) is lower than before, and clients forget that: a new root removes keys",
                at: site.place(of: document), remedy: "make sure that it is your newest publication")
        }
    }

    private func rollback(to document: MetadataDocument, of site: SeenSite) -> Finding? {
        guard let seen = versions[document.role.fileName], document.version < seen else { return nil }
        let time = runs.last.map { ", up to \($0.time)" } ?? ""
        return Finding(
            .error(.untrusted), "rolled-back",
            "it is \(document.role) version \(document.version), and version \(seen) was seen before\(time): the host has an old state",
            at: site.place(of: document),
            remedy: "upload the newest state of the site again; if it is lost, publish with higher versions")
    }

    private func change(of document: MetadataDocument, of site: SeenSite) -> Finding? {
        guard let known = metadata[document.fileName], known != Metadata(document.bytes) else { return nil }
        return Finding(
            .error(.untrusted), "changed-file",
            "\(document.role) version \(document.version) has other bytes than before, and both are signed",
            at: site.place(of: document),
            remedy: "find out who signed this version twice, and publish a new one: clients may have either")
    }

    private func changesOfKeptFiles(of site: SeenSite) -> [Finding] {
        let present = Set((site.roots.map(\.document) + site.documents).map(\.fileName))
        let earlier = metadata.keys.filter { !present.contains($0) }.sorted { $0.hostedName < $1.hostedName }
        return site.keptFiles(among: earlier).compactMap { file in
            guard metadata[file.name] != Metadata(file.bytes) else { return nil }
            return Finding(
                .error(.corrupt), "changed-file", "it has other bytes than before", at: file.place,
                remedy: "put the publisher's copy of it there again")
        }
    }
}
