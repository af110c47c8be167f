import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem

/// Which of the versions in a team's site is published.
extension TeamDelivery {
    /// How far a team's version may be above the listed one. A thief of its key could otherwise use the last version
    /// (2^53-1), after which the team could never publish again.
    private static let versionLimit: Int64 = 1_000_000

    /// How many files are looked at for the newest one that the team's keys signed. The team's own `publish` continues from the
    /// highest file in its folder, so more files above it come from somebody else.
    private static let candidateLimit = 64

    /// How many bytes of such files are parsed.
    private static let candidateBytes: UInt64 = 16 << 20

    private var highestVersion: Int64 { (listed?.version ?? 0) + Self.versionLimit }

    /// ``newest`` where it may follow the listed version; else the metadata of the highest version, for the error.
    func publishable(above last: Int64) throws(VaultError) -> UnverifiedMetadata {
        if let unreadable { throw unreadable }
        guard let highest = versions.first else {
            throw VaultError(
                .missing, "the team '\(team.role)' has published nothing there", at: folder.path.string,
                remedy: "correct its \"site\" in \(vault.settings.string), or let the team publish first")
        }
        if let newest, newest.document.version > last { return newest }
        guard highest <= highestVersion else {
            throw VaultError(
                .untrusted,
                "version \(highest) is more than \(Self.versionLimit) above version \(listed?.version ?? 0), which the site lists",
                at: folder.path.appending(team.role.hostedName(version: highest)).string,
                remedy: "ask the team: its key may be stolen; then it removes that file, and replaces the key"
            )
        }
        return try metadata(version: highest)
    }

    /// The highest version that the team's present keys have signed and that is not too far above the listed one.
    func newestSigned() -> UnverifiedMetadata? {
        let highest = highestVersion
        var bytes: UInt64 = 0
        for version in versions.lazy.filter({ $0 <= highest }).prefix(Self.candidateLimit) {
            let path = folder.path.appending(team.role.hostedName(version: version))
            let size = (try? FileSystem.status(of: path, followingLinks: true))?.size ?? 0
            guard size <= team.role.sizeLimit else { continue }
            bytes += size
            guard bytes <= Self.candidateBytes else { return nil }
            guard let metadata = try? metadata(version: version), delegation.trust.isMet(by: metadata) else {
                continue
            }
            return metadata
        }
        return nil
    }

    private func metadata(version: Int64) throws(VaultError) -> UnverifiedMetadata {
        let path = folder.path.appending(team.role.hostedName(version: version))
        let bytes = try DurableFile.read(path, limit: team.role.sizeLimit)
        let metadata = try UnverifiedMetadata(parsing: bytes, as: team.role, place: path.string)
        guard metadata.document.version == version else {
            throw VaultError(
                .untrusted, "its version is \(metadata.document.version)", at: path.string,
                remedy: "get the team's site again")
        }
        return metadata
    }

    /// Whether the team's listed metadata is signed by its present keys and readable by clients.
    func isSigned(_ listed: MetadataReference) throws(VaultError) -> Bool {
        let name = team.role.hostedName(version: listed.version)
        do throws(VaultError) {
            guard
                let bytes = try MetadataFolder(vault.metadata).metadata(
                    named: name, limit: team.role.sizeLimit)
            else { return false }
            return delegation.trust.isMet(
                by: try UnverifiedMetadata(parsing: bytes, as: team.role, place: name))
        } catch {
            guard error.category == .untrusted else { throw error }
            return false
        }
    }

    /// Throws `untrusted` where the site has another file of this version.
    func requireUnusedVersion(for file: SignedMetadata) throws(VaultError) {
        let known = try MetadataFolder(vault.metadata).metadata(
            named: file.hostedName, limit: team.role.sizeLimit)
        guard known == nil || known == file.bytes else {
            throw VaultError(
                .untrusted, "the site has had another version \(file.draft.version) of the team's",
                at: folder.path.appending(file.hostedName).string,
                remedy: "let the team publish again, until its version has another number")
        }
    }
}
