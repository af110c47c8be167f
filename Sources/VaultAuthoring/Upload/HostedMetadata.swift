import SystemPackage
import UpdateFramework
import VaultErrors

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
    var roots: [MetadataFileName] {
        sizes.keys.compactMap { file in
            guard file.hasPrefix("metadata/") else { return nil }
            return MetadataFileName(hostedName: String(file.dropFirst("metadata/".count)))
        }.filter { $0.role == .root }
    }

    func has(_ name: String) -> Bool { sizes["metadata/\(name)"] != nil }

    /// Fetches those of these files that are there, each once.
    mutating func fetch(_ names: [String]) async throws(VaultError) {
        let wanted = Set(names).filter { has($0) && !fetched.contains($0) }.sorted()
        fetched.formUnion(wanted)
        for name in wanted { try requireReasonable(name) }
        guard !wanted.isEmpty else { return }
        try await destination.read(wanted.map { "metadata/\($0)" }, into: copy)
    }

    /// No more is read than metadata may have.
    private func requireReasonable(_ name: String) throws(VaultError) {
        let role =
            name == MetadataRole.timestamp.fileName ? .timestamp : MetadataFileName(hostedName: name)?.role
        guard let role, let size = sizes["metadata/\(name)"], size > UInt64(clamping: role.sizeLimit) else {
            return
        }
        throw VaultError(
            .untrusted, "it has \(size) bytes, more than such a file may have",
            at: destination.place(of: "metadata/\(name)"),
            remedy: "find out who wrote it there, and remove it")
    }

    /// The timestamp as it is at the destination now; nil where there is none.
    func presentTimestamp(scratch: FilePath) async throws(VaultError) -> [UInt8]? {
        let name = MetadataRole.timestamp.fileName
        guard has(name) else {
            return try await destination.sizes()["metadata/\(name)"] == nil ? nil : []
        }
        try await destination.read(["metadata/\(name)"], into: scratch)
        return try MetadataFolder(scratch.appending("metadata")).metadata(
            named: name, limit: MetadataRole.timestamp.sizeLimit)
    }
}

/// The metadata as clients will find them after an upload: those of the site's folder, and beside them those of the destination.
struct UploadedMetadata: MetadataSource {
    let site: MetadataFolder
    let hosted: MetadataFolder
    /// Roots above this version are left out.
    var lastRoot = Int64.max

    func metadata(named name: String, limit: Int) throws(VaultError) -> [UInt8]? {
        if let file = MetadataFileName(hostedName: name), file.role == .root, file.version > lastRoot {
            return nil
        }
        if let bytes = try site.metadata(named: name, limit: limit) { return bytes }
        // The site says what is newest, never the destination.
        return name == MetadataRole.timestamp.fileName ? nil : try hosted.metadata(named: name, limit: limit)
    }

    func place(of name: String) -> String { site.place(of: name) }
}
