import SealedPack
import VaultBase
import VaultCrypto
import VaultFileSystem

/// Verifies every byte of one pack: without a key its parts and their digests, with a key also every file, and the SHA-256 of the
/// whole, by which other programs verify packs.
struct PackExamination {
    /// The place of the pack in reports: its path or URL.
    let place: String
    /// Nil for a pack that nothing describes.
    let manifest: PackManifest?
    /// The folder of its site, which is repaired where the pack is damaged; nil at a host, and for a pack by itself.
    let siteFolder: String?
    let keys: (any KeyProvider)?

    func run(on file: OpenFileReference, _ observe: (WorkProgress) -> Void) async -> AuditedPack {
        var report = AuditedPack(place: place, of: manifest)
        // What is as it was signed can't be repaired.
        var isSound = false
        do throws(VaultError) {
            if manifest == nil { report.length = try file.file.status().size }
            let pack = try PackFile(file, as: manifest)
            report.pieceCount = pack.pieceCount
            let check = try await pack.check { done in
                observe(progress(.checking, done, of: pack.length))
            }
            report.damagedPieces = check.damagedPieces
            isSound = check.isSound
            report.findings += findings(of: check)
            // Without its catalog no file can be named.
            if let keys, check.isCatalogSound {
                async let digest = Self.digest(of: file)
                try await readFiles(of: pack, keys, &report, observe)
                if check.isSound { report.findings += findings(ofWhole: try await digest.get()) }
            }
        } catch {
            let isDamage = manifest != nil && error.category == .corrupt && !error.needsNewerRelease
            report.findings.append(
                Finding(
                    isDamage
                        ? error.with(remedy: Self.damageRemedy, hint: isSound ? nil : repairHint) : error,
                    at: place))
        }
        return report
    }

    private func findings(of check: PackVerification) -> [Finding] {
        var problems: [String] = []
        if !check.damagedPieces.isEmpty {
            let shown = check.damagedPieces.prefix(8).map(String.init).joined(separator: ", ")
            let more = check.damagedPieces.count > 8 ? " and more" : ""
            problems.append("damaged pieces (\(check.damagedPieces.count)): number \(shown)\(more)")
        }
        if !check.isCatalogSound { problems.append("the catalog is damaged") }
        return problems.map { problem in
            .damaged(problem, at: place, remedy: Self.damageRemedy, hint: repairHint)
        }
    }

    /// A result, because `async let` loses the type of its error.
    private static func digest(of file: OpenFileReference) -> Result<SHA256Digest, VaultError> {
        Result { () throws(VaultError) in try file.file.sha256() }
    }

    private func findings(ofWhole digest: SHA256Digest) -> [Finding] {
        guard let manifest, manifest.sha256 != digest else { return [] }
        return [
            .damaged(
                "the file has the SHA-256 \(digest.hex), not that of its manifest",
                at: place,
                remedy: "publish the pack again: its parts are sound, but other programs will refuse it")
        ]
    }

    private static let damageRemedy =
        "repair it from a host of the site, or remove it before the publisher's copy is uploaded again"

    private var repairHint: Hint? { siteFolder.map { .repairingSite(folder: $0) } }

    /// Opens every piece. If one can't be opened, only the files in it are reported as damaged.
    private func readFiles(
        of pack: PackFile, _ keys: any KeyProvider, _ report: inout AuditedPack,
        _ observe: (WorkProgress) -> Void
    ) async throws(VaultError) {
        let source = try await open(pack, keys)
        let catalog = source.catalog
        (report.id, report.version) = (source.id, source.version)
        if let manifest {
            for id in try await keys.wrongSlots(of: manifest) {
                report.findings.append(
                    Finding(
                        .error(.corrupt), "wrong-slot",
                        "its slot for the key '\(id)' does not have its content key: who has only that key can't open it",
                        at: place, remedy: "publish it again with the key"))
            }
        }
        var position: UInt64 = 0
        var entry = 0
        var damaged = 0
        while position < catalog.contentLength {
            do throws(VaultError) {
                try await source.read(position..<catalog.contentLength) { bytes in
                    position += UInt64(bytes.count)
                    observe(progress(.opening, position, of: catalog.contentLength))
                }
            } catch {
                guard error.category == .corrupt else { throw error }
                // The first missing byte belongs to a damaged file; the files after it may be sound.
                while let found = catalog.entry(entry), found.content.upperBound <= position { entry += 1 }
                guard let file = catalog.entry(entry), damaged < Self.damagedFileLimit else {
                    throw VaultError(
                        .corrupt, "more files are damaged, the rest was not opened", at: place,
                        remedy: error.remedy)
                }
                damaged += 1
                position = file.content.upperBound
                report.findings.append(
                    .damaged(
                        error.problem, at: "\(place): \(file.path.string)",
                        remedy: error.needsNewerRelease ? error.remedy : Self.damageRemedy,
                        hint: error.needsNewerRelease || report.damagedPieces.isEmpty ? nil : repairHint))
            }
        }
        report.verifiedEntries = catalog.entryCount - damaged
    }

    /// Of many damaged files only the first are named.
    private static let damagedFileLimit = 100

    private func open(_ pack: PackFile, _ keys: any KeyProvider) async throws(VaultError) -> OpenPack {
        do throws(VaultError) {
            return try await OpenPack(pack, keys: keys)
        } catch {
            guard error.category == .key, manifest == nil else { throw error }
            throw VaultError(
                .missing, "there is no manifest, so the pack's key can't be unwrapped", at: place,
                remedy: "give its manifest, or its site for signed metadata", hint: .evidence)
        }
    }

    private func progress(_ step: WorkProgress.Step, _ done: UInt64, of total: UInt64) -> WorkProgress {
        WorkProgress(step, manifest?.id.description ?? place, done, of: total)
    }
}
