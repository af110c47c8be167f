import SystemPackage
import UpdateFramework
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Publishes the metadata of a team's role, to which another vault's site delegates.
struct TeamPublisher {
    let session: AuthorSession
    let published: PublishedTeamRole

    func run(listing records: [TargetRecord]) async throws(VaultError) -> MetadataReport {
        let vault = session.vault
        let role = published.role
        let old = published.targets
        guard isDue(records) else { return MetadataReport() }
        let signing = try MetadataSigning(for: session, with: published.keys)
        // NextVersions restarts below the maximum once the maximum is used, so a number that does not rise means that this key
        // has used it.
        if let old, signing.versions[role] <= old.version {
            throw VaultError(
                .untrusted,
                "version \(old.version) is the highest possible one: a thief of the team's key has published it",
                at: "role \(role)",
                remedy:
                    "put a new key into \(vault.signingKey(of: role)), publish again, and give its public key to those"
                    + " who list your packs")
        }
        // The delegating vault may require several signatures and its threshold is unknown here, so every key in keys/ signs.
        var members = old?.json ?? [:]
        members[GivenVersions.member] = try await GivenVersions(of: session).member(
            listing: GivenVersions.numbers(of: records), replacing: [role], in: [role])
        members[RetiredKeys.member] = session.retiredKeys.json
        members[RetiredKeys.contentMember] = session.retiredKeys.contentJSON
        let trusts = [published.trust] + published.keys.publicKeys.map { RoleTrust([MetadataKey($0)]) }
        let file = try signing.sign(role, for: trusts, delegatedBy: "the team's vault") {
            [members] version, expires throws(VaultError) in
            try .targets(
                role, version: version, expires: expires, records: records, keepingMembersOf: members)
        }
        guard file.bytes.count <= role.sizeLimit else {
            throw VaultError(
                .limit,
                "it has \(file.bytes.count) bytes, more than the \(role.sizeLimit) that a site takes of a team",
                at: file.hostedName, remedy: "list fewer packs, or divide them among several teams",
                missingBytes: UInt64(file.bytes.count - role.sizeLimit))
        }
        try FileSystem.createFolders(vault.metadata, permissions: 0o755)
        try DurableFile.write(
            file.bytes.span, to: vault.metadata.appending(file.hostedName), permissions: 0o644,
            replacing: false)
        return MetadataReport(written: [file.hostedName])
    }

    /// Reports what ``run(listing:)`` would write.
    func preview(listing records: [TargetRecord]) throws(VaultError) -> MetadataReport {
        guard isDue(records) else { return MetadataReport() }
        let versions = try MetadataSigning(for: session, with: published.keys).versions
        return MetadataReport(toWrite: [published.role.hostedName(version: versions[published.role])])
    }

    private func isDue(_ records: [TargetRecord]) -> Bool {
        guard let old = published.targets else { return true }
        return session.period.isDue(published.role, expiring: old.expires)
            || Set(old.records) != Set(records) || session.retiredKeys.isChanged
    }
}
