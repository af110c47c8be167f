import SealedPack
import VaultSite

/// Which versions of a pack stay listed for versions of the app that the new ones are not for.
struct CompatibleVersions {
    /// The app versions that the vault still supports.
    let supported: AppVersionRange

    /// The newest listed version for each supported app version that no range admits; the newest first.
    ///
    /// - Parameters:
    ///   - versions: numbers that are not kept.
    func kept(
        of listed: ListedPack, notFor ranges: [AppVersionRange], except versions: Set<UInt64>
    ) -> [PackManifest] {
        let candidates = listed.versions.filter { !versions.contains($0.version) }
            .sorted { $0.version > $1.version }
        var kept: Set<UInt64> = []
        for app in bounds(of: candidates.map(\.offer.apps) + ranges)
        where !ranges.contains(where: { $0.admits(app) }) {
            if let match = candidates.first(where: { $0.offer.apps.admits(app) }) {
                kept.insert(match.version)
            }
        }
        return candidates.filter { kept.contains($0.version) }
    }

    /// What one version of the app gets changes only at these.
    private func bounds(of ranges: [AppVersionRange]) -> [AppVersion] {
        let bounds = ranges.flatMap { [$0.from, $0.before].compactMap(\.self) }
        return ([supported.from ?? .first] + bounds).filter(supported.admits)
    }
}

extension AppVersionRange {
    /// The part below another range; where that has no lower bound, the part above it.
    func outside(_ other: AppVersionRange) -> AppVersionRange {
        if let end = other.from {
            return AppVersionRange(from: from, before: before.map { min($0, end) } ?? end)
        }
        return AppVersionRange(from: [from, other.before].compactMap(\.self).max(), before: before)
    }
}
