import SystemPackage
import VaultBase

/// A remote of the user's `rclone`, with its configuration and `RCLONE_*` variables.
struct RcloneDestination: UploadDestination {
    private let rclone: ExternalTool

    /// - Parameter address: such as `packs:my-bucket/game`.
    init(address: String, scratch: FilePath) {
        rclone = ExternalTool(
            program: "rclone", address: DestinationAddress(rclone: address), scratch: scratch)
    }

    var name: String { rclone.address.shown }
    private var root: String { rclone.address.text }

    /// Of rclone: the folder was not found.
    private static let notFound: Int32 = 3

    func sizes() async throws(VaultError) -> [String: UInt64] {
        var sizes: [String: UInt64] = [:]
        for area in ["metadata", "targets"] {
            let answer = try await rclone.run(
                [
                    "lsf", "--copy-links", "--recursive", "--files-only", "--format", "sp", "--separator",
                    ";", "--",
                    root.joined(with: area),
                ],
                accepting: [0, Self.notFound], for: place(of: area))
            guard answer.status == 0 else { continue }
            try answer.forEachLine { (line) throws(VaultError) in
                let parts = line.split(separator: ";", maxSplits: 1)
                guard parts.count == 2, let size = UInt64(parts[0]) else {
                    throw rclone.unusable(line, at: place(of: area))
                }
                sizes["\(area)/\(parts[1])"] = size
            }
        }
        return sizes
    }

    func read(_ files: [String], into folder: FilePath) async throws(VaultError) {
        try await copy(["--ignore-times"], files, from: root, to: folder.string)
    }

    func write(_ files: [String], from folder: FilePath, _ writing: UploadWriting) async throws(VaultError) {
        // An immutable file that another upload has just written is not replaced.
        let replacing =
            if case .new = writing { ["--immutable", "--checksum"] } else { ["--ignore-times"] }
        let header = ["--header-upload", "Cache-Control: \(writing.cacheControl)"]
        try await copy(replacing + header, files, from: folder.string, to: root)
    }

    private func copy(_ options: [String], _ files: [String], from source: String, to target: String)
        async throws(VaultError)
    {
        try await rclone.withList(of: files) { (list) throws(VaultError) in
            _ = try await rclone.run(
                ["copy", "--copy-links", "--no-traverse", "--files-from-raw", list] + options + [
                    "--", source, target,
                ],
                for: name)
        }
    }

    func differing(_ files: [String], from folder: FilePath) async throws(VaultError) -> [String] {
        try await rclone.withList(of: files) { (list) throws(VaultError) in
            // 1: some differ. Without --download a host without hashes would be compared by sizes.
            let answer = try await rclone.run(
                [
                    "check", "--copy-links", "--download", "--one-way", "--combined", "-", "--files-from-raw",
                    list, "--",
                    folder.string, root,
                ], accepting: [0, 1], for: name)
            var confirmed: Set<String> = []
            try answer.forEachLine { line in
                if line.hasPrefix("= ") { confirmed.insert(String(line.dropFirst(2))) }
            }
            return files.filter { !confirmed.contains($0) }
        }
    }
}
