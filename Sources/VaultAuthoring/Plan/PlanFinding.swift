import SealedPack
public import VaultErrors
public import VaultSite

/// Something in a plan that limits forbid, or that is probably a mistake.
public struct PlanFinding: SiteNotice, Hashable {
    public enum Severity: String, Sendable {
        case warning
        /// A limit is exceeded.
        case error
    }

    public let severity: Severity
    public let problem: String
    public let remedy: String

    /// The finding as a refusal.
    public func refusal(at place: String) -> VaultError {
        VaultError(.limit, problem, at: place, remedy: remedy)
    }
}

extension ContentPlan {
    /// What is found for every device, within the limits that are declared.
    var findings: [PlanFinding] {
        get throws(VaultError) {
            let contents = try devices.map { device throws(VaultError) in
                try DeviceContent(of: self, for: device)
            }
            return findings(for: contents, within: limits ?? SizeLimits())
        }
    }

    /// Holds the plan against limits.
    ///
    /// - Parameter contents: what the devices get.
    public func findings(for contents: [DeviceContent], within limits: SizeLimits) -> [PlanFinding] {
        var findings = ownFindings(within: limits)
        if contents.count >= Self.deviceLimit, deviceCount > contents.count {
            findings.append(
                .warning(
                    "limits were held against \(contents.count) of \(deviceCount) devices",
                    "declare fewer values of traits, or name devices"))
        }
        for content in contents {
            for finding in content.findings(within: limits) where !findings.contains(finding) {
                findings.append(finding)
            }
        }
        return findings
    }

    private func ownFindings(within limits: SizeLimits) -> [PlanFinding] {
        var findings: [PlanFinding] = []
        for pack in packs {
            findings += PlanFinding.exceeding(
                limits.pack, pack.openedSize, "the pack '\(pack.id)' has",
                "give its files more tags, or divide them")
        }
        findings += PlanFinding.exceeding(
            limits.hosted, packs.totalSize, "all packs have",
            "remove variants or files that no device needs")
        if let limit = limits.packCount, packs.count > limit {
            findings.append(
                PlanFinding(
                    severity: .error, problem: "\(packs.count) packs are more than \(limit)",
                    remedy: "use fewer sets of tags and traits"))
        }
        for (family, paths) in untagged.sorted(by: { $0.key < $1.key }) {
            guard let first = paths.first else { continue }
            findings.append(
                PlanFinding(
                    severity: .warning,
                    problem:
                        "\(paths.count.counting("file")) of '\(family)' \(paths.count == 1 ? "is" : "are") in no pack; '\(first)' is the first",
                    remedy: "give a tag, or exclude what is not needed"))
        }
        findings += PlanFinding.naming(conflicts)
        for notice in notices { findings.append(.warning(notice.problem, notice.remedy)) }
        findings += variantFindings
        for place in unusedRules {
            findings.append(
                .warning("no file matches the rule at \(place)", "correct its \"paths\" or \"tagByFolder\""))
        }
        if isPublishedUnknown {
            findings.append(
                PlanFinding(
                    severity: .warning, problem: "no key opens the names of the published packs",
                    remedy: "give the vault key, to see which versions are published"))
        }
        for family in fullyPreserved {
            findings.append(
                PlanFinding(
                    severity: .warning, problem: "all tags of '\(family)' have the preservation 100",
                    remedy: "leave less to what may go first: equal priorities say nothing"))
        }
        for file in executables {
            findings.append(
                PlanFinding(
                    severity: .warning,
                    problem:
                        "'\(file.path)' in '\(file.pack)' is a native executable (\(file.format.rawValue))",
                    remedy: "ship programs with the app: most platforms forbid them in content"))
        }
        return findings
    }
}

extension DeviceContent {
    fileprivate func findings(within limits: SizeLimits) -> [PlanFinding] {
        let essential = openedSize(of: [.essential])
        var findings = PlanFinding.exceeding(
            limits.initial, essential, "essential packs have", "move tags from \"initial\" to \"prefetch\"")
        findings += PlanFinding.exceeding(
            limits.app, essential, "the app with its essential packs has",
            "move tags from \"initial\" to \"prefetch\"")
        findings += PlanFinding.exceeding(
            limits.meteredInstall, essential, "an installation over a mobile network has",
            "move tags from \"initial\" to \"prefetch\", or let people wait for another network", .warning)
        findings += PlanFinding.exceeding(
            limits.initialAndPrefetched, openedSize(of: [.essential, .prefetch]),
            "essential and prefetched packs have", "leave more tags on demand")
        for (tag, size) in tagSizes.sorted(by: { $0.key < $1.key }) {
            let problem = "the tag '\(tag)' has"
            let before = findings.count
            findings += PlanFinding.exceeding(limits.tag, size, problem, "divide it into several tags")
            findings += PlanFinding.exceeding(
                limits.inUse, size, "\(problem), in use at a time,",
                "divide it: a request of it uses all of it")
            if findings.count == before {
                findings += PlanFinding.exceeding(
                    limits.recommendedTag, size, problem, "smaller tags arrive sooner and are purged sooner",
                    .warning)
            }
        }
        return findings
    }
}

extension PlanFinding {
    /// The maximum number of conflicts that are named.
    private static let conflictLimit = 8

    static func naming(_ conflicts: [ContentPlan.Conflict]) -> [PlanFinding] {
        var findings = conflicts.prefix(conflictLimit).map { conflict in
            PlanFinding(
                severity: .warning,
                problem:
                    "'\(conflict.path)' differs between '\(conflict.first)', which counts, and '\(conflict.other)'",
                remedy: "rename one of them, if an app reads both packs as one tree")
        }
        if conflicts.count > conflictLimit {
            findings.append(
                PlanFinding(
                    severity: .warning,
                    problem:
                        "\(conflicts.count - conflictLimit) more paths have different content in two packs",
                    remedy: "rename one of each"))
        }
        return findings
    }

    /// Empty where the size is within the limit.
    fileprivate static func exceeding(
        _ limit: UInt64?, _ size: UInt64, _ subject: String, _ remedy: String, _ severity: Severity = .error
    ) -> [PlanFinding] {
        guard let limit, size > limit else { return [] }
        return [
            PlanFinding(
                severity: severity, problem: "\(subject) \(size) bytes, \(size - limit) more than \(limit)",
                remedy: remedy)
        ]
    }
}
