import SystemPackage
import VaultBase
import VaultFileSystem

/// What the user's `rsync` reaches: a folder, `user@host:path` over ssh, or a module of an rsync daemon. rsync writes each file under
/// another name and renames it.
struct RsyncDestination: UploadDestination {
    private let rsync: ExternalTool
    /// Before the address, where a destination was written so.
    private let prefix: String

    /// - Parameters:
    ///   - prefix: what stands before the address in a destination: `rsync:`, or nothing.
    ///   - address: as rsync takes it, such as `web@host:/srv/game`.
    init(prefix: String, address: String, scratch: FilePath) {
        self.prefix = prefix
        rsync = ExternalTool(program: "rsync", address: DestinationAddress(rsync: address), scratch: scratch)
    }

    var name: String { prefix + rsync.address.shown }
    /// With a slash at the end.
    private var root: String { rsync.address.text.joined(with: "") }

    /// Of rsync: some files were not there; or the other side, which reported that, had hung up by then.
    private static let incomplete: [Int32] = [10, 12, 23]

    func sizes() async throws(VaultError) -> [String: UInt64] {
        let areas = ["metadata", "targets"].flatMap { ["--include=/\($0)/", "--include=/\($0)/**"] }
        let answer = try await rsync.run(
            ["--recursive", "--copy-links", "--list-only", "--no-human-readable", "--8-bit-output"] + areas
                + [
                    "--exclude=*", "--", root,
                ],
            accepting: [0] + Self.incomplete, for: name)
        guard answer.status == 0 else {
            // The folder itself is not there; (2) is the system's number for that.
            let isMissing = answer.errors.split(whereSeparator: \.isNewline).contains {
                $0.contains("change_dir") && $0.hasSuffix("(2)")
            }
            guard isMissing else { throw rsync.failure(answer, at: name) }
            return [:]
        }
        var sizes: [String: UInt64] = [:]
        try answer.forEachLine { (line) throws(VaultError) in
            // Such as `-rw-r--r--  1234 2031/05/01 12:00:00 metadata/1.root.json`; a daemon may greet first.
            guard line.prefix(10).wholeMatch(of: /[a-z-]([r-][w-][xsStT-]){3}/) != nil, !line.hasPrefix("d")
            else { return }
            let parts = line.split(separator: " ", maxSplits: 4)
            guard line.hasPrefix("-"), parts.count == 5, let size = UInt64(parts[1]) else {
                throw rsync.unusable(line, at: name)
            }
            sizes[String(parts[4])] = size
        }
        return sizes
    }

    func read(_ files: [String], into folder: FilePath) async throws(VaultError) {
        // Filters, since some daemons look for listed files in the wrong folder of a module. No such name has a wildcard.
        let folders = Set(files.compactMap { $0.split(separator: "/").first.map { "/\($0)/" } }).sorted()
        try await rsync.withList(of: folders + files.map { "/\($0)" }) { (list) throws(VaultError) in
            _ = try await rsync.run(
                [
                    "--recursive", "--copy-links", "--ignore-times", "--include-from=\(list)", "--exclude=*",
                    "--", root,
                    "\(folder.string)/",
                ], for: name)
        }
    }

    func write(_ files: [String], from folder: FilePath, _ writing: UploadWriting) async throws(VaultError) {
        // A web server of another account reads the files. A file that another upload has just written is not replaced.
        let replacing = if case .new = writing { "--ignore-existing" } else { "--ignore-times" }
        _ = try await copy([replacing, "--chmod=D755,F644"], files, from: "\(folder.string)/", to: root)
    }

    func differing(_ files: [String], from folder: FilePath) async throws(VaultError) -> [String] {
        // A dry run by checksums. Twice itemized, so that files are named that rsync would not send.
        let answer = try await copy(
            [
                "--dry-run", "--checksum", "--8-bit-output", "--itemize-changes", "--itemize-changes",
                "--out-format=%i %n",
            ],
            files,
            from: "\(folder.string)/", to: root)
        var confirmed: Set<String> = []
        try answer.forEachLine { line in
            // Such as `.f          metadata/1.root.json`: a file that is not sent.
            guard line.hasPrefix(".f"), let end = line.dropFirst(11).firstIndex(of: " ") else { return }
            confirmed.insert(String(line[line.index(after: end)...]))
        }
        return files.filter { !confirmed.contains($0) }
    }

    func remove(_ files: [String]) async throws(VaultError) {
        // Their folders, without them.
        let empty = try ScratchFolder(in: rsync.scratch)
        for folder in Set(files.map { FilePath($0).removingLastComponent() }) {
            try FileSystem.createFolders(empty.path.pushing(folder), permissions: 0o755)
        }
        _ = try await copy(["--delete-missing-args"], files, from: "\(empty.path.string)/", to: root)
    }

    private func copy(_ options: [String], _ files: [String], from source: String, to target: String)
        async throws(VaultError) -> ExternalTool.Answer
    {
        try await rsync.withList(of: files) { (list) throws(VaultError) in
            try await rsync.run(
                ["--copy-links"] + options + ["--files-from=\(list)", "--", source, target], for: name)
        }
    }
}
