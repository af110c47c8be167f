import SystemPackage
import UpdateFramework
public import VaultBase
import VaultCrypto
import VaultFileSystem

extension VaultFolder {
    /// The files that wait for signatures, by their names.
    public func pendingFiles() throws(VaultError) -> [String] {
        try MetadataFolder(pending).versions().map(\.hostedName).sorted()
    }
}

extension MetadataFolder {
    /// Nil where the file is gone.
    func pendingMetadata(in file: MetadataFileName) throws(VaultError) -> UnverifiedMetadata? {
        guard let role = file.role,
            let bytes = try metadata(named: file.hostedName, limit: role.sizeLimit)
        else { return nil }
        return try UnverifiedMetadata(parsingPending: bytes, as: role, place: file.hostedName)
    }
}

/// Metadata in a vault's `pending/`. A file has the form and the name that it will have in the site; any tool that
/// knows the form can sign it.
struct PendingMetadata {
    let vault: VaultFolder
    private var files: MetadataFolder { MetadataFolder(vault.pending) }

    var folder: String { vault.pending.string }

    func path(of file: SignedMetadata) -> FilePath { vault.pending.appending(file.hostedName) }

    /// The highest version that waits for a role.
    func file(of role: MetadataRole) throws(VaultError) -> UnverifiedMetadata? {
        guard let newest = try files.newestVersion(of: role) else { return nil }
        let path = vault.pending.appending(role.hostedName(version: newest))
        let bytes = try DurableFile.read(path, limit: role.sizeLimit)
        let written = try written()
        func refusal(_ problem: String) -> VaultError {
            VaultError(
                .corrupt, problem, at: path.string,
                remedy: "remove it; it is written again where it is needed")
        }
        let metadata: UnverifiedMetadata
        do throws(VaultError) {
            metadata = try UnverifiedMetadata(parsingPending: bytes, as: role, place: path.string)
        } catch { throw refusal(error.problem) }
        guard written.contains(Self.digest(of: metadata.document.signed)) else {
            throw refusal("its content is not what this vault wrote there")
        }
        guard metadata.document.version == newest else {
            throw refusal("its version is \(metadata.document.version)")
        }
        return metadata
    }

    func roles() throws(VaultError) -> Set<MetadataRole> {
        Set(try files.versions().compactMap(\.role))
    }

    func write(_ file: SignedMetadata) throws(VaultError) {
        try note(file)
        try FileSystem.createFolders(vault.pending, permissions: 0o755)
        try DurableFile.write(file.bytes.span, to: path(of: file), permissions: 0o644, replacing: true)
    }

    /// Removes what waits for a role.
    func remove(_ role: MetadataRole) throws(VaultError) {
        for version in try files.versions() where version.unversionedName == role.fileName {
            try FileSystem.removeFile(vault.pending.appending(version.hostedName))
        }
    }

    /// Digests of what the vault wrote: `pending/` is copied between machines, and the vault's keys must not sign files that were
    /// added elsewhere.
    private func written() throws(VaultError) -> Set<SHA256Digest> {
        guard try FileSystem.exists(vault.pendingDigests) else { return [] }
        let lines = try DurableFile.read(vault.pendingDigests, limit: 16 << 20).split(
            separator: UInt8(ascii: "\n"))
        return Set(lines.compactMap { SHA256Digest(hex: String(decoding: $0.prefix(64), as: UTF8.self)) })
    }

    private func note(_ file: SignedMetadata) throws(VaultError) {
        let digest = Self.digest(of: file.draft.signed)
        // Digests of removed files are dropped. That of a file that is about to be replaced stays: a kill may come between.
        var lines = ["\(digest.hex)  \(file.hostedName)"]
        let known = try written()
        for version in try files.versions() {
            guard let other = try? files.pendingMetadata(in: version),
                case let digest = Self.digest(of: other.document.signed), known.contains(digest)
            else { continue }
            lines.append("\(digest.hex)  \(version.hostedName)")
        }
        let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
        try DurableFile.write(bytes.span, to: vault.pendingDigests, permissions: 0o644, replacing: true)
    }

    private static func digest(of signed: JSONObject) -> SHA256Digest {
        SHA256.hash(JSONValue.object(signed).canonical().span)
    }
}
