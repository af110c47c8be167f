import Foundation
import SealedPack
import SystemPackage
import VaultBase
import VaultFileSystem

/// A folder on this machine, or one that is mounted. Every file appears whole and durable, or not at all.
struct FolderDestination: UploadDestination {
    private let folder: FilePath

    init(_ folder: FilePath) { self.folder = folder }

    var name: String { folder.string }

    func requireOutside(of site: FilePath) throws(VaultError) {
        guard let own = try FileSystem.status(of: site, followingLinks: true) else { return }
        var next = FilePath(URL(filePath: folder.string).absoluteURL.path(percentEncoded: false))
        repeat {
            if try FileSystem.status(of: next, followingLinks: true)?.isSameFile(as: own) ?? false {
                throw VaultError(
                    .usage, "the destination is inside of the site '\(site)'", at: folder.string,
                    remedy: "name another folder")
            }
        } while next.removeLastComponent()
    }

    func sizes() throws(VaultError) -> [String: UInt64] {
        var sizes: [String: UInt64] = [:]
        for area in ["metadata", "targets"] {
            let path = folder.appending(area)
            guard try FileSystem.exists(path) else { continue }
            try Folder(opening: path).forEachEntry(below: "\(area)/") { (path, status) throws(VaultError) in
                let found =
                    status.kind == .link
                    ? try FileSystem.status(of: folder.appending(path), followingLinks: true) : status
                switch found?.kind {
                case .file: sizes[path] = found?.size
                case .folder: break
                default:
                    throw VaultError(
                        .untrusted, "it is not a file", at: folder.appending(path).string,
                        remedy: "find out who put it there, and remove it")
                }
            }
        }
        return sizes
    }

    func read(_ files: [String], into folder: FilePath) throws(VaultError) {
        for file in files {
            let target = folder.appending(file)
            guard try FileSystem.status(of: self.folder.appending(file), followingLinks: true) != nil else {
                continue
            }
            try FileSystem.createFolders(target.removingLastComponent(), permissions: 0o700)
            try copy(self.folder.appending(file), to: target, replacing: true)
        }
    }

    func write(_ files: [String], from folder: FilePath, _ writing: UploadWriting) throws(VaultError) {
        let isNew = if case .new = writing { true } else { false }
        var cleared: Set<FilePath> = []
        for file in files {
            let target = self.folder.appending(file)
            let parent = target.removingLastComponent()
            if cleared.insert(parent).inserted {
                try FileSystem.createFolders(parent, permissions: 0o755)
                // Of an upload that was killed.
                _ = try? Folder(opening: parent).removeAbandonedScratch()
            }
            do throws(VaultError) {
                try copy(folder.appending(file), to: target, replacing: !isNew)
            } catch {
                guard isNew, (try? FileSystem.exists(target)) == true else { throw error }
                throw VaultError(
                    .busy, "another process has written it meanwhile", at: target.string,
                    remedy: "upload again"
                )
            }
        }
    }

    func differing(_ files: [String], from folder: FilePath) throws(VaultError) -> [String] {
        var differing: [String] = []
        for file in files {
            let expected = try OpenFile(reading: folder.appending(file))
            do throws(VaultError) {
                let found = try OpenFile(reading: self.folder.appending(file))
                if try found.hasContent(length: expected.status().size, expected.sha256()) { continue }
            } catch {
                guard error.category == .missing else { throw error }
            }
            differing.append(file)
        }
        return differing
    }

    func remove(_ files: [String]) throws(VaultError) {
        for file in files { try FileSystem.removeFile(folder.appending(file)) }
    }

    private func copy(_ source: FilePath, to target: FilePath, replacing: Bool) throws(VaultError) {
        let source = try OpenFile(reading: source)
        let copy = try ScratchFile(for: target)
        try source.forEachBlock(of: 0..<source.status().size) { (block, offset) throws(VaultError) in
            try copy.file.write(block, at: offset)
        }
        try copy.commit(permissions: 0o644, replacing: replacing)
    }
}
