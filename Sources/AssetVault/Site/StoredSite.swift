import SealedPack
import UpdateFramework
import VaultBase
import VaultCrypto

/// A site by the metadata that the app verified and stored, read without the network.
///
/// A pack that a downloader brought counts only if it is listed here, digest and all: so a file in shared storage,
/// such as an older version of a pack, is never opened just because it is there.
struct StoredSite: Sendable {
    let store: StoreAccess
    /// The app's root file: metadata of another site are refused, and older ones of a downloader stay out.
    var trustedRoot: [UInt8]?
    var choice = ClientChoice.none

    /// What was verified last, read only. Nil where no stored metadata pass verification, the store was never refreshed, or the site
    /// does not have the channel. Throws `.untrusted` where the given root is another site's.
    func view() async throws(VaultError) -> SiteView? {
        let trust = store.readableMetadata
        // Delegated roles that were adopted are read where they are, and count as the app's snapshot lists them.
        let source = store.metadata(of: .downloader).asSource
        guard try trust.pinDigest() != nil else { return nil }
        if let trustedRoot {
            try await trust.requireStoredRoot(agreeingWith: trustedRoot, from: source)
        }
        let choice = try StoredClientChoice(of: store).completing(choice)
        var view: SiteView
        do throws(VaultError) {
            view = try await SiteView(
                of: trust.storedChain(), choosing: choice,
                lookup: trust.lookup(from: source, now: .earliest), in: store)
        } catch {
            guard error.meansIncompleteMetadata else { throw error }
            return nil
        }
        try await view.checkNames()
        return view
    }

    /// As ``view()``. If a waiting pack is not listed, newer metadata of a downloader is adopted first, and the given root is pinned
    /// if the app has none yet.
    ///
    /// - Parameter waiting: the packs that wait and were not accepted yet, by the digests in their names.
    func view(listing waiting: [PackID: Set<SHA256Digest>]) async throws(VaultError) -> SiteView? {
        if let trustedRoot {
            try store.prepareMetadata()
            try await store.metadata.pin(trustedRoot)
        }
        do throws(VaultError) { try await store.adoptPin() } catch {
            guard !Task.isCancelled else { throw error }
        }
        if let kept = try await view(), await kept.lists(waiting) { return kept }
        do throws(VaultError) { try await store.adoptMetadata(trusting: trustedRoot) } catch {
            // Where the downloader's metadata fail verification, the app's own count.
            guard !Task.isCancelled else { throw error }
        }
        return try await view()
    }

    /// By a downloader's metadata that the app would adopt, read only; nil where they do not verify.
    func broughtView() async throws(VaultError) -> SiteView? {
        let choice = try StoredClientChoice(of: store).completing(choice)
        do throws(VaultError) {
            let state = try await store.broughtState(trusting: trustedRoot)
            return try await SiteView(of: state.chain, choosing: choice, lookup: state.lookup, in: store)
        } catch {
            guard !Task.isCancelled else { throw error }
            return nil
        }
    }

    /// Runs `body` on earlier verified states of the site, the newest first, and returns its first result; nil if there is none.
    ///
    /// Earlier states may list loaded packs that the present one does not: a later refresh did not read all delegated roles again, or
    /// brought names that are not opened yet. A state counts only while its signers are still authorised.
    func firstEarlier<Result>(
        before present: SiteView, _ body: (SiteView) async throws(VaultError) -> Result?
    ) async throws(VaultError) -> Result? {
        try await store.readableMetadata.firstEarlierState { state throws(VaultError) in
            guard
                var earlier = try? await SiteView(
                    of: state.chain, choosing: present.choice, lookup: state.lookup, in: store),
                present.chain.hasTheDelegations(of: earlier.chain)
            else { return nil }
            try await earlier.checkNames()
            return earlier.missingNames == nil ? try await body(earlier) : nil
        }
    }
}

extension SiteView {
    fileprivate func lists(_ waiting: [PackID: Set<SHA256Digest>]) async -> Bool {
        for (id, digests) in waiting {
            guard let listed = try? await pack(listedAs: id)?.pack.sha256, digests == [listed] else {
                return false
            }
        }
        return true
    }

    /// The packs of some tags. Nil where something is not stored that may list one of them, or their names are not known.
    func storedPacks(with tags: Set<String>) async throws(VaultError) -> SelectedPacks? {
        guard missingNames == nil else { return nil }
        do throws(VaultError) {
            let selected = try await select(.tagged(tags))
            return selected.isComplete ? selected : nil
        } catch {
            guard error.meansIncompleteMetadata else { throw error }
            return nil
        }
    }
}
