import SealedPack
import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem
import VaultSite

/// The files of packs that a team delivers. No disk space is reserved or written for a file that is not the signed one.
extension TeamDelivery {
    /// Copies the files of these packs that the site does not have: all of them, or none.
    func copyPacks(_ records: [TargetRecord], into output: FilePath) throws(VaultError) {
        var missing: [TargetRecord] = []
        var names: Set<String> = []
        for record in records where try isMissing(record, in: output) {
            if names.insert(record.hostedPath).inserted { missing.append(record) }
        }
        let length = missing.saturatingSum(\.length)
        let space = try FileSystem.availableSpace(at: vault.path)
        guard length <= space else {
            throw VaultError(
                .diskFull, "the \(length) bytes of its new packs are more than the \(space) that are free",
                at: folder.path.string, remedy: "free some space, or let the team deliver less",
                missingBytes: length - space)
        }
        var copies: [FilePath] = []
        do throws(VaultError) {
            for record in missing {
                copies.append(output.appending(record.hostedPath))
                try copy(record, into: output)
            }
        } catch {
            for copy in copies { try? FileSystem.removeFile(copy) }
            throw error
        }
    }

    /// Whether neither the host nor the site has a file that the team lists.
    private func isMissing(_ record: TargetRecord, in output: FilePath) throws(VaultError) -> Bool {
        guard let id = PackID(targetPath: record.path) else {
            throw VaultError(
                .untrusted, "it lists '\(record.path.excerpt)', which is not a pack", at: folder.path.string,
                remedy: "let the team publish its packs alone")
        }
        guard id.description != PackNames.packID else {
            throw VaultError(
                .untrusted, "it lists '\(id)', which is the table of the studio's opaque names",
                at: folder.path.string, remedy: "find out who signed it: no release of this program does")
        }
        if isHosted(record) { return false }
        for path in [output, vault.targets].map({ $0.appending(record.hostedPath) }) {
            guard let size = try FileSystem.status(of: path)?.size else { continue }
            guard size == record.length else {
                // Its name has its digest: if that is right, the record is wrong.
                if try OpenFile(reading: path).hasContent(length: size, record.hashes.sha256) {
                    throw Self.anotherFile(at: deliveredPath(of: record))
                }
                throw VaultError(
                    .corrupt, "it has \(size) bytes, not \(record.length)", at: path.string,
                    remedy: "remove it, so that it is copied again")
            }
            return false
        }
        return true
    }

    private func copy(_ record: TargetRecord, into output: FilePath) throws(VaultError) {
        let source = deliveredPath(of: record)
        let target = output.appending(record.hostedPath)
        try require(record, at: source)
        try FileSystem.createFolders(target.removingLastComponent(), permissions: 0o755)
        try FileMove.copy(source, of: record.length, to: target, permissions: 0o644) {
            copy throws(VaultError) in
            guard try copy.hasContent(length: record.length, record.hashes.sha256) else {
                throw Self.anotherFile(at: source)
            }
        }
    }

    /// Where the team's site has a file.
    func deliveredPath(of record: TargetRecord) -> FilePath {
        vault.path.pushing(team.site).appending("targets").appending(record.hostedPath)
    }

    /// Where the file of a pack may be: as the team delivers it, or imported.
    func paths(of listed: ListedPack) -> [FilePath] {
        [deliveredPath(of: listed.target), vault.targets.appending(listed.target.hostedPath)]
    }

    /// Throws unless the file is the signed one. The cheapest checks come first.
    private func require(_ record: TargetRecord, at source: FilePath) throws(VaultError) {
        let file = try OpenFile(reading: source)
        let size = try file.status().size
        guard size == record.length else {
            throw VaultError(
                .corrupt, "it has \(size) bytes, not the \(record.length) that the team signed for",
                at: source.string, remedy: "get the team's site again")
        }
        // Ciphertext has no holes: a file with them would only take time to read.
        guard try file.dataRanges(in: 0..<size) == [0..<size] else { throw Self.anotherFile(at: source) }
        guard try file.hasContent(length: record.length, record.hashes.sha256) else {
            throw Self.anotherFile(at: source)
        }
    }

    private static func anotherFile(at source: FilePath) -> VaultError {
        VaultError(
            .corrupt, "it is not the file that the team signed for", at: source.string,
            remedy: "get the team's site again")
    }
}

extension VerifiedTargets {
    /// Bytes of members that this release does not know, of the signed part or of one version of a pack: room for what later
    /// releases add. Every client downloads and keeps them.
    private static let unknownLimit = 64 << 10

    private static let knownMembers = [
        "_type", "spec_version", "version", "expires", "targets", "delegations", MetadataDraft.roleMember,
    ]

    /// Throws `untrusted` where the members that this release does not know are too large.
    func requireKnownMembers(at place: String) throws(VaultError) {
        var unknown = json
        for name in Self.knownMembers { unknown[name] = nil }
        if (try? GivenVersions.recorded(in: document)) != nil { unknown[GivenVersions.member] = nil }
        try Self.require(unknown.byteCount, atMost: Self.unknownLimit, of: "its signed part", at: place)
        for record in records {
            let known = (try? ListedPack(record)).flatMap {
                try? ListedPack($0.pack, otherVersions: $0.otherVersions)
            }
            try Self.require(
                record.json.byteCount - (known?.target.json.byteCount ?? 0),
                atMost: Self.unknownLimit * record.eachVersion.count, of: record.path, at: place)
        }
    }

    private static func require(
        _ count: Int, atMost limit: Int, of part: String, at place: String
    ) throws(VaultError) {
        guard count > limit else { return }
        throw VaultError(
            .untrusted, "\(part.excerpt) has \(count) bytes of unknown members, more than \(limit)",
            at: place,
            remedy: "let the team publish again without them")
    }
}

extension JSONObject {
    fileprivate var byteCount: Int { JSONValue.object(self).canonical().count }
}
