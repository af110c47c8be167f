public import SealedPack
import UpdateFramework
public import VaultBase
import VaultFileSystem

/// Gives held packs to all for whom they are declared, in all channels at once. Only metadata changes: clients that have downloaded the
/// packs open what they have.
public struct Release: Sendable {
    private let ids: [PackID]
    private let request: AuthorRequest

    /// - Parameter ids: of packs and resource trees with `"held"` in `vault.json`.
    public init(of ids: [PackID], _ request: AuthorRequest) {
        (self.ids, self.request) = (ids, request)
    }

    /// A run that was interrupted is repeated: what is released already gets a warning.
    ///
    /// - Throws: `missing` for an ID that `vault.json` does not declare; `key` where no key here opens a held pack.
    public func run(in vault: VaultFolder) async throws(VaultError) -> KeyChangeReport {
        try await vault.carryOut(request, release)
    }

    private func release(
        in session: AuthorSession, into output: ProposedChange.Output
    ) async throws(VaultError) -> KeyChangeReport {
        var edited = session
        var released: [PackID] = []
        var warnings: [Finding] = []
        for id in ids {
            guard let source = session.settings.sources.first(where: { $0.id == id }) else {
                throw VaultError(
                    .missing, "the vault declares no pack and no resource tree with this ID",
                    at: id.description, remedy: "name one of vault.json"
                ).suggesting(id.description, among: session.settings.sources.map(\.id.description))
            }
            guard source.isHeld else {
                released.append(id)
                continue
            }
            warnings += source.onlyEarlyReaders.map {
                .warning(
                    "early-reader-ends",
                    "the audience '\($0)' could read it before its release, and can't read it afterwards by its own key",
                    at: id.description,
                    remedy: "give it a key that the pack is for, or name it in the pack's \"for\"")
            }
            try edited.settings.removeHold(of: id)
        }
        let names = try await edited.opaqueNames()
        var listed: Set<PackID> = []
        for id in ids { listed.formUnion(try names.listedIDs(of: id)) }
        try await edited.requireContentKeys { $0.isMade(ofAnyOf: listed) }
        var report = try await edited.publishKeys(releasing: Set(ids), into: output)
        // Slots that are added nevertheless are those of a run that was interrupted after it had changed the settings.
        if report.rekeyed.isEmpty {
            warnings += released.map {
                .warning(
                    "not-held", "'\($0)' is not held: its audiences have its key", at: $0.description,
                    remedy: "publish with \"held\": true what is to be released later")
            }
        }
        report.warnings += warnings
        return report
    }
}

extension AuthorSession {
    /// As the settings say that packs are listed.
    func opaqueNames() async throws(VaultError) -> OpaqueNames {
        try await OpaqueNames(
            settings.hasOpaqueNames, after: EarlierPacks(of: self), by: PackPublisher(for: self))
    }

    /// Throws `.key` where listed versions are the vault's own, and no key here opens any of them.
    func requireAnyContentKey() async throws(VaultError) {
        let publisher = try await PackPublisher(for: self)
        var failure: VaultError?
        for listed in try listedVersions() where listed.team == nil {
            do throws(VaultError) {
                _ = try await publisher.keys.openers.contentKey(of: listed.pack)
                return
            } catch {
                guard !error.isUnreadKey else { throw error }
                // A source that does not answer now may have the key.
                guard error.category == .key else { return }
                failure = failure ?? error
            }
        }
        if let failure {
            throw failure.with(remedy: VaultFolder.lostKeyRemedy)
        }
    }

    /// Throws `.key` where no key here opens a listed version of the vault's own that is asked for.
    func requireContentKeys(of isAsked: (PackManifest) -> Bool) async throws(VaultError) {
        let publisher = try await PackPublisher(for: self)
        var known: Set<[KeySlot]> = []
        for listed in try listedVersions() where listed.team == nil && isAsked(listed.pack) {
            guard known.insert(listed.pack.slots).inserted else { continue }
            _ = try await publisher.keys.openers.contentKey(of: listed.pack)
        }
    }
}
