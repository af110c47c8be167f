import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem

/// A copy of a destination's metadata, as far as an upload needs it, in a folder that is removed afterwards.
struct HostedMetadata {
    private let destination: any UploadDestination
    /// The files that the destination has.
    private let sizes: [String: UInt64]
    private let copy: FilePath
    private var fetched: Set<String> = []

    var folder: MetadataFolder { MetadataFolder(copy.appending("metadata")) }

    init(at destination: any UploadDestination, sizes: [String: UInt64], in copy: FilePath) {
        self.destination = destination
        self.sizes = sizes
        self.copy = copy
    }

    /// The names of all roots that are there.
    var roots: [MetadataFileName] { files.filter { $0.role == .root } }

    /// The files with higher versions than these, which are by name without the version; the newest of each role first. Files that
    /// are longer than metadata may be are ignored.
    func newer(than versions: [String: Int64]) -> [MetadataRole: [MetadataFileName]] {
        var newer: [MetadataRole: [MetadataFileName]] = [:]
        for file in files {
            guard let role = file.role, let version = versions[file.unversionedName], file.version > version,
                sizes["metadata/\(file.hostedName)"] ?? 0 <= UInt64(clamping: role.type.sizeLimit)
            else { continue }
            newer[role, default: []].append(file)
        }
        return newer.mapValues { $0.sorted { $0.version > $1.version } }
    }

    /// All files that have a version in their name.
    var files: [MetadataFileName] {
        sizes.keys.compactMap(Self.file)
    }

    /// Nil for a path of anything else, such as the timestamp or a pack.
    static func file(at path: String) -> MetadataFileName? {
        guard path.hasPrefix("metadata/") else { return nil }
        return MetadataFileName(hostedName: String(path.dropFirst("metadata/".count)))
    }

    func has(_ name: String) -> Bool { sizes["metadata/\(name)"] != nil }

    /// Fetches those of these files that are there, each once. The timestamp decides what may be written: it is read even if the
    /// list does not have it, because lists can be stale.
    mutating func fetch(_ names: [String]) async throws(VaultError) {
        let wanted = Set(names).filter {
            !fetched.contains($0) && (has($0) || $0 == MetadataRole.timestamp.fileName && !sizes.isEmpty)
        }.sorted()
        fetched.formUnion(wanted)
        for name in wanted { try requireReasonable(name) }
        guard !wanted.isEmpty else { return }
        try await destination.read(wanted.map { "metadata/\($0)" }, into: copy)
    }

    /// Throws for more bytes than any metadata of its type may have. The lower limit of a team's role is checked when the file is read,
    /// so that one team's file does not stop the rest.
    private func requireReasonable(_ name: String) throws(VaultError) {
        let role =
            name == MetadataRole.timestamp.fileName ? .timestamp : MetadataFileName(hostedName: name)?.role
        guard let role, let size = sizes["metadata/\(name)"], size > UInt64(clamping: role.type.sizeLimit)
        else {
            return
        }
        throw VaultError(
            .untrusted, "it has \(size) bytes, more than such a file may have",
            at: destination.place(of: "metadata/\(name)"),
            remedy: "find out who wrote it there, and remove it")
    }

    /// The timestamp as it is at the destination now; nil where there is none.
    func presentTimestamp() async throws(VaultError) -> [UInt8]? {
        let role = MetadataRole.timestamp
        let scratch = try ScratchFolder(in: copy)
        let metadata = scratch.path.appending("metadata")
        try FileSystem.createFolders(metadata, permissions: 0o700)
        // Read without a look at the list, which is of before the first file was written.
        try await destination.read(["metadata/\(role.fileName)"], into: scratch.path)
        return try MetadataFolder(metadata).metadata(named: role.fileName, limit: role.sizeLimit)
    }
}
