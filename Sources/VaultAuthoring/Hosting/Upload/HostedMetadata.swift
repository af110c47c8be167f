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

    /// The files with higher versions than these, the newest of each role first. Files that are longer than metadata may be are
    /// ignored.
    func newer(than versions: [MetadataRole: Int64]) -> [MetadataRole: [MetadataFileName]] {
        var newer: [MetadataRole: [MetadataFileName]] = [:]
        for file in files {
            guard let role = file.role, let version = versions[role], file.version > version,
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
    func presentTimestamp(scratch: FilePath) async throws(VaultError) -> [UInt8]? {
        let name = MetadataRole.timestamp.fileName
        // Read without a look at the list, which is of before the first file was written.
        try await destination.read(["metadata/\(name)"], into: scratch)
        return try MetadataFolder(scratch.appending("metadata")).metadata(
            named: name, limit: MetadataRole.timestamp.sizeLimit)
    }
}

/// The metadata as clients will find them after an upload: those of the site's folder, and beside them those of the destination.
struct UploadedMetadata: MetadataSource {
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

extension UploadedMetadata {
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
    func requireDescent(from seen: SeenMetadata) throws(VaultError) {
        let snapshot = MetadataRole.snapshot.hostedName(version: seen.timestamp.snapshot.version)
        for name in [snapshot] + (seen.snapshot?.hostedNames ?? []) {
            guard let role = MetadataFileName(hostedName: name)?.role,
                role == .snapshot || role.listsOwnPacks
            else { continue }
            try requireSame(name, role)
        }
    }

    /// Throws where the destination has another content under a number. The beginning of a file is what an interrupted upload leaves, and
    /// is replaced.
    func requireSame(_ name: String, _ role: MetadataRole) throws(VaultError) {
        guard let ours = try site.metadata(named: name, limit: role.sizeLimit),
            let theirs = try hosted.metadata(named: name, limit: role.sizeLimit), !ours.starts(with: theirs)
        else { return }
        let place = destination.place(of: "metadata/\(name)")
        guard role == .root else { throw RollbackCheck.taken(name, at: place) }
        throw VaultError(
            .untrusted, "the destination has another root under this number: it is another site's", at: place,
            remedy: "check the destination; a root is never replaced")
    }
}
