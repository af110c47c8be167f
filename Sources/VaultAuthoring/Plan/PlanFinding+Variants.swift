import SealedPack
import StrictJSON
import VaultErrors
import VaultSite

extension ContentPlan {
    /// What is probably wrong with variants.
    var variantFindings: [PlanFinding] {
        let fallbacks = unusedFallbacks.map { fallback in
            PlanFinding.warning(
                "no file has the fallback '\(fallback.value)' of the trait '\(fallback.trait)'",
                fallback.nearest.map { "did you mean '\($0)'? Else give files for it, or remove it" }
                    ?? "give files for it, or remove it")
        }
        return fallbacks + unevenVariants
    }

    /// Variants are chosen whole: what one of them lacks, its devices don't get.
    private var unevenVariants: [PlanFinding] {
        VariantSets(packs).sets.compactMap { packs in
            guard let first = packs.first, Set(packs.map(\.entryCount)).count > 1 else { return nil }
            return .warning(
                "the variants of '\(first.setName)' have \(Self.list(packs.map(\.entryCount))) files: a device gets those of one",
                "give each of them all files, or other tags to files that only some have")
        }
    }

    /// Numbers for people; of many only their range.
    private static func list(_ counts: [Int]) -> String {
        guard let least = counts.min(), let most = counts.max(), counts.count > 8 else {
            return counts.dropLast().map { "\($0)" }.joined(separator: ", ")
                + (counts.last.map { " and \($0)" } ?? "")
        }
        return "from \(least) to \(most)"
    }
}

/// The packs of which each device gets one.
private struct VariantSets {
    private struct Key: Hashable {
        let family: PackID
        let tags: [String]
        let traits: [String]
    }

    /// Those of two packs or more, sorted by the first ID.
    let sets: [[ContentPlan.Pack]]

    /// - Parameter packs: sorted by ID.
    init(_ packs: [ContentPlan.Pack]) {
        var sets: [Key: [ContentPlan.Pack]] = [:]
        for pack in packs where !pack.offer.traits.isEmpty {
            guard let family = pack.offer.family else { continue }
            let key = Key(
                family: family, tags: pack.offer.tags.sorted(), traits: pack.offer.traits.keys.sorted())
            sets[key, default: []].append(pack)
        }
        self.sets = sets.values.filter { $0.count > 1 }.sorted { $0[0].id < $1[0].id }
    }
}

extension ContentPlan.Pack {
    /// The ID without the segment for its traits.
    fileprivate var setName: String {
        id.description.split(separator: "/").dropLast().joined(separator: "/")
    }
}

extension PlanFinding {
    static func warning(_ problem: String, _ remedy: String) -> PlanFinding {
        PlanFinding(severity: .warning, problem: problem, remedy: remedy)
    }
}
