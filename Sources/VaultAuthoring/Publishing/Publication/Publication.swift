import SealedPack
import SystemPackage
import UpdateFramework
public import VaultBase
import VaultFileSystem
import VaultSite

/// Seals what changed in a vault and writes its signed site.
///
/// Readers see the old site or the new one: packs are written first, then metadata, the timestamp last. Without a
/// change only metadata that would soon expire is written.
public enum Publication {
    /// Publishes a vault. One publisher at a time: another one throws `.busy`.
    ///
    /// - Parameters:
    ///   - edit: a change of the settings, saved after all packs are sealed.
    ///   - observe: called with the progress.
    public static func run(
        of vault: VaultFolder, _ request: AuthorRequest,
        editing edit: ((inout VaultSettings) throws(VaultError) -> Void)? = nil,
        observe: (WorkProgress) -> Void = { _ in }
    ) async throws(VaultError) -> PublicationReport {
        try await vault.carryOut(request, preparing: edit ?? { _ in }) {
            session, output async throws(VaultError) in
            try await session.publishSources(savingSettings: edit != nil, into: output, observe)
        }
    }
}

extension AuthorSession {
    /// - Parameter isChanged: whether the session's settings differ from those on disk.
    func publishSources(
        savingSettings isChanged: Bool, into output: ProposedChange.Output,
        _ observe: (WorkProgress) -> Void = { _ in }
    ) async throws(VaultError) -> PublicationReport {
        if request.keys != nil { try settings.requireUseOfVaultKeys(at: vault.settings) }
        let publisher = try await PackPublisher(for: self, sealingInto: output.scratch)
        let deliveries = try deliveries()
        let plan = try sourcePlan()
        let findings = try plan.findings
        if request.isStrict, let first = findings.first(where: { $0.error != nil }) ?? findings.first {
            throw first.refusal(as: .limit, at: vault.path.string)
        }
        try await publisher.keys.requireFewEnough(for: settings)
        if output.scratch == nil {
            try publisher.files.removeAbandonedScratch(
                of: settings.packs.map(\.id) + sourceListing.packs.map(\.pack.id))
            try FileSystem.createFolders(vault.targets, permissions: 0o755)
        }
        var work = WholeWork(plan.packs.map { ($0.id, $0.openedSize) }, steps: [.sealing])
        let sizes = Dictionary(plan.packs.map { ($0.id, $0.openedSize) }) { first, _ in first }
        let proposal = try await PublicationProposal(for: self, deliveries, by: publisher) { id, done in
            let progress = WorkProgress(.sealing, id.description, done, of: sizes[id] ?? 0)
            observe(work.adding(progress, of: id))
        }
        let structure = settings.structure
        let metadata = try await publish(
            ProposedChange(
                listing: [structure.sourceChannel: proposal.records]
                    .merging(proposal.rekeying.records) { listed, _ in listed },
                names: proposal.shown, deliveries: deliveries, settings: isChanged ? settings : nil),
            into: output)
        var report = PublicationReport(
            channel: structure.channels.first, packs: proposal.packs, rekeyed: proposal.rekeying.packs,
            restorations: proposal.restorations, written: metadata.written, toWrite: metadata.toWrite,
            findings: findings, warnings: proposal.warnings + metadata.warnings,
            isOfTeam: structure.ownRole != nil, uncountedUpdates: proposal.changed.uncounted)
        try report.addSizes(
            of: proposal.offered, hasEarlier: !sourceListing.packs.isEmpty,
            importedBytes: metadata.importedBytes)
        return report
    }

    /// The plan of the listed sources. What 'plan' finds about teams is among the warnings.
    private func sourcePlan() throws(VaultError) -> ContentPlan {
        let settings = settings.withoutPinned
        for source in settings.sources { try source.requirePresence(in: vault) }
        return try ContentPlan(
            of: settings, in: vault, limit: request.unpackingLimit, beside: .notAskedFor)
    }
}
