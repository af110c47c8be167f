import SystemPackage
import UpdateFramework
import VaultBase
import VaultFileSystem

/// A file that is to be sent.
struct UploadItem: Sendable {
    let path: String
    let length: UInt64
    let writing: UploadWriting
}

/// What an upload sends, in its order.
struct UploadWork {
    let uploaded: SiteToUpload
    let destination: any UploadDestination
    /// Holds the timestamp as it was verified.
    let staged: FilePath
    let hosted: HostedMetadata
    var packs: [UploadItem] = []
    /// Each file before those that list it.
    var metadata: [UploadItem] = []
    /// Nil where the destination has it.
    var timestamp: UploadItem?
    var lastRoots: [UploadItem] = []
    /// Bytes.
    var sent: UInt64 = 0
    /// What the destination loses at last.
    var removals: [SiteFile] = []

    private var all: [UploadItem] { packs + metadata + (timestamp.map { [$0] } ?? []) + lastRoots }

    func report(isDryRun: Bool) -> UploadReport {
        UploadReport(
            destination: destination.name, files: all.map { SiteFile(path: $0.path, length: $0.length) },
            removed: removals, version: uploaded.tree.chain.timestamp.version,
            earlierVersion: uploaded.seen?.timestamp.version, isDryRun: isDryRun, warnings: uploaded.warnings)
    }

    /// Sends files in their order, and reads each part back before the next is sent.
    mutating func send(
        _ items: [UploadItem], from folder: FilePath, _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) {
        let total = all.saturatingSum(\.length)
        for part in Self.parts(of: items) {
            let files = part.map(\.path)
            try await destination.write(files, from: folder, part[0].writing)
            FailPoint.reach("upload")
            let wrong = try await destination.differing(files, from: folder)
            guard wrong.isEmpty else {
                throw VaultError(
                    .unavailable, "it does not read back as it was written: \(wrong.listed(upTo: 4))",
                    at: destination.name,
                    remedy:
                        "check the destination and its space, or whether another upload runs, then upload again"
                )
            }
            sent += part.saturatingSum(\.length)
            observe(WorkProgress(.sending, nil, sent, of: total))
        }
    }

    /// Parts whose files may be sent in any order: the packs, or the metadata of one kind. A part of packs is small enough for
    /// progress to be shown.
    private static func parts(of items: [UploadItem]) -> [[UploadItem]] {
        var parts: [[UploadItem]] = []
        var size: UInt64 = 0
        for item in items {
            if let last = parts.last, kind(of: last[0]) == kind(of: item), last.count < 500, size < 64 << 20 {
                parts[parts.count - 1].append(item)
                size += item.length
            } else {
                parts.append([item])
                size = item.length
            }
        }
        return parts
    }

    private static func kind(of item: UploadItem) -> [String] {
        let isTarget = item.path.hasPrefix("targets/")
        // The role's file name follows the version, as `targets.json`.
        let ending = isTarget ? "" : String(item.path.drop { $0 != "." })
        let isTopLevel = [".targets.json", ".snapshot.json", ".root.json", ".json"].contains(ending)
        return ["\(isTarget)", isTopLevel ? ending : "", "\(item.writing)"]
    }
}
