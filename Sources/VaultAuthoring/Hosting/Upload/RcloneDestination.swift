import SystemPackage
import VaultBase
import VaultFileSystem

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
        // Packs have their digest in their name: two uploads never have different ones of a name.
        if case .new = writing, files.allSatisfy({ $0.hasPrefix("metadata/") }), try await isS3(),
            try await writeUnlessThere(files, from: folder, header)
        {
            return
        }
        try await copy(replacing + header, files, from: folder.string, to: root)
    }

    /// Whether a store took the files, each of which it refuses in the same step if it has another one of the name (`If-None-Match`,
    /// RFC 9110, section 13.1.2); false for a store that does not know the condition, or fails. All requests have its header, so that
    /// there are none but those that write.
    ///
    /// - Throws: `busy` for a file that was written meanwhile.
    private func writeUnlessThere(
        _ files: [String], from folder: FilePath, _ header: [String]
    ) async throws(VaultError) -> Bool {
        let answer = try await copy(
            [
                "--no-check-dest", "--s3-no-head", "--s3-no-check-bucket", "--retries", "1",
                "--header", "If-None-Match: *",
            ] + header, files, from: folder.string, to: root, accepting: Array(0...10))
        guard answer.status != 0 else { return true }
        guard answer.errors.contains("PreconditionFailed") else { return false }
        let wrong = try await differing(files, from: folder)
        guard let first = wrong.first else { return true }
        throw VaultError(
            .busy, "another publisher has written it meanwhile: \(wrong.listed(upTo: 4))",
            at: place(of: first),
            remedy: RollbackCheck.again)
    }

    private func isS3() async throws(VaultError) -> Bool {
        let remote = String(root.drop { $0 == ":" }.prefix { $0 != ":" && $0 != "," })
        guard !root.hasPrefix(":") else { return remote == "s3" }
        let variable = "RCLONE_CONFIG_\(remote.uppercased().replacing("-", with: "_"))_TYPE"
        if let type = ProcessEnvironment.text(of: variable) { return type == "s3" }
        var isS3 = false
        try await rclone.run(["listremotes", "--long"], for: name).forEachLine { line in
            let words = line.split(separator: " ")
            if words.first == "\(remote):", words.last == "s3" { isS3 = true }
        }
        return isS3
    }

    func remove(_ files: [String]) async throws(VaultError) {
        try await rclone.withList(of: files) { (list) throws(VaultError) in
            _ = try await rclone.run(
                ["delete", "--copy-links", "--files-from-raw", list, "--", root], for: name)
        }
    }

    @discardableResult
    private func copy(
        _ options: [String], _ files: [String], from source: String, to target: String,
        accepting accepted: [Int32] = [0]
    ) async throws(VaultError) -> ExternalTool.Answer {
        try await rclone.withList(of: files) { (list) throws(VaultError) in
            try await rclone.run(
                ["copy", "--copy-links", "--no-traverse", "--files-from-raw", list] + options + [
                    "--", source, target,
                ],
                accepting: accepted, for: name)
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
