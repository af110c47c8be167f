import SealedPack
import VaultBase

/// Packs that become live together.
extension StagingRun {
    /// Whether a pack waits for the others of its set now, and not for its key.
    func isReady(_ id: PackID, _ state: PackState) -> Bool {
        guard state == .toBeTransferred, stager.sets.count(with: id) != nil else { return false }
        return (try? stager.store.records.record(of: id))?.ready != nil
    }

    /// If the work on a set has ended with this pack, makes all of it live, or none where a pack is missing. Returns the outcomes of
    /// the packs that were ready.
    func endSet(by outcome: Outcome) async -> [Outcome] {
        switch stager.sets.end(outcome.id, as: workEnd(of: outcome)) {
        case nil: return []
        case .wait(let packs, let missing): return packs.map { ready($0.id, awaiting: missing) }
        case .activate(let packs):
            do throws(VaultError) {
                // Otherwise another process with newer metadata continues: what it makes live stays.
                let isLive = try await stager.installer.activateTogether(packs)
                return packs.map { reported(.success(isLive ? .loaded : loadedState(of: $0.id)), of: $0.id) }
            } catch {
                guard let first = packs.first else { return [] }
                return [reported(.failure(error), of: first.id)]
                    + packs.dropFirst().map { ready($0.id, awaiting: first.id) }
            }
        }
    }

    private func workEnd(of outcome: Outcome) -> PackSets.WorkEnd {
        if outcome.isReady { return .ready }
        let isKeyMissing: Bool
        switch outcome.result {
        case .success where outcome.isDeferred: return .missing
        case .success(let state): isKeyMissing = state == .toBeTransferred || outcome.missingKey != nil
        case .failure where outcome.missingKey == nil: return .missing
        case .failure: isKeyMissing = true
        }
        // One whose key was never here is of no use to this user: the others need not wait for it.
        return isKeyMissing && loadedState(of: outcome.id) == .loaded ? .missing : .omitted
    }

    private func ready(_ id: PackID, awaiting missing: PackID) -> Outcome {
        stager.observer(.awaitingSet(id, missing: missing))
        var outcome = reported(.success(.toBeTransferred), of: id)
        outcome.awaitedPack = missing
        return outcome
    }

    private func loadedState(of id: PackID) -> PackState {
        (try? stager.store.records.record(of: id))?.loaded == nil ? .absent : .loaded
    }

    /// Before anything of a set is downloaded: all of it must be brought now, and the disk must have room for it beside the versions
    /// before. Returns the outcomes of the packs of other sets.
    func refuseSets(of plan: Plan, _ offers: [PackID: LocatedPack]) async throws(VaultError) -> [Outcome] {
        guard stager.opensPacks else { return [] }
        var refused: [Outcome] = []
        for set in plan.sets {
            if let missing = set.missing.first {
                refused += set.packs.map { notBegun($0.id, without: missing.id) }
                continue
            }
            do throws(VaultError) {
                try await stager.makeRoom(for: set.packs.compactMap { offers[$0.id] })
            } catch {
                guard error.category == .diskFull, let first = set.packs.first else {
                    if Task.isCancelled { throw error }
                    // Staging its packs reports what fails.
                    continue
                }
                let count = set.packs.count
                let problem = "\(error.problem), for the \(count) packs of a set, which are updated together"
                refused.append(reported(.failure(error.with(problem: problem)), of: first.id))
                refused += set.packs.dropFirst().map { notBegun($0.id, without: first.id) }
            }
        }
        return refused
    }

    private func notBegun(_ id: PackID, without missing: PackID) -> Outcome {
        stager.observer(.awaitingSet(id, missing: missing))
        var outcome = reported(.success(loadedState(of: id)), of: id)
        outcome.awaitedPack = missing
        return outcome
    }
}
