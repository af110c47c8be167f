import SystemPackage
import VaultBytes
public import VaultErrors
import VaultFileSystem

/// A file that is to be sent.
struct UploadItem: Sendable {
    let path: String
    let length: UInt64
    let writing: UploadWriting
}

/// What an upload sends, in its order.
struct UploadWork {
    let destination: String
    /// Holds the timestamp as it was verified.
    let staged: FilePath
    let hosted: HostedMetadata
    /// The destination's timestamp; nil where there is none.
    let seen: [UInt8]?
    let version: Int64
    let earlier: Int64?
    let warnings: [Finding]
    var packs: [UploadItem] = []
    /// Each file before those that list it.
    var metadata: [UploadItem] = []
    /// Nil where the destination has it.
    var timestamp: UploadItem?
    var lastRoots: [UploadItem] = []

    private var all: [UploadItem] { packs + metadata + (timestamp.map { [$0] } ?? []) + lastRoots }

    func report(isDryRun: Bool) -> UploadReport {
        UploadReport(
            destination: destination, files: all.map { UploadReport.File(path: $0.path, length: $0.length) },
            version: version, earlierVersion: earlier, isDryRun: isDryRun, warnings: warnings)
    }

    /// Sends files in their order, and reads each part back before the next is sent.
    func send(
        _ items: [UploadItem], from folder: FilePath, to destination: any UploadDestination,
        _ observe: (UploadProgress) -> Void
    ) async throws(VaultError) {
        let total = items.saturatingSum(\.length)
        var done: UInt64 = 0
        for part in Self.parts(of: items) {
            let files = part.map(\.path)
            try await destination.write(files, from: folder, part[0].writing)
            #if DEBUG
                FailPoint.reach("upload")
            #endif
            let wrong = try await destination.differing(files, from: folder)
            guard wrong.isEmpty else {
                throw VaultError(
                    .unavailable, "it does not read back as it was written: \(wrong.listed(upTo: 4))",
                    at: destination.name,
                    remedy:
                        "check the destination and its space, or whether another upload runs, then upload again"
                )
            }
            done += part.saturatingSum(\.length)
            observe(UploadProgress(.sending, done, of: total))
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

/// What an upload sent, or would send.
public struct UploadReport: Sendable {
    public struct File: Sendable {
        /// Relative to the site.
        public let path: String
        /// In bytes.
        public let length: UInt64
    }

    public let destination: String
    /// In the order in which they are sent.
    public let files: [File]
    /// Of the timestamp that is uploaded.
    public let version: Int64
    /// Of the timestamp that was at the destination; nil for a first upload.
    public let earlierVersion: Int64?
    public let isDryRun: Bool
    public let warnings: [Finding]

    /// In bytes.
    public var length: UInt64 { files.saturatingSum(\.length) }
}
