import SealedPack
public import VaultBase
public import VaultSite

/// Exceeded limits and probable mistakes.
extension ContentPlan {
    /// The findings for every device, with the declared limits.
    var findings: [Finding] {
        get throws(VaultError) {
            let contents = try devices.map { device throws(VaultError) in
                try DeviceContent(of: self, for: device)
            }
            return findings(for: contents, within: limits ?? SizeLimits())
        }
    }

    /// Compares the plan with limits.
    ///
    /// - Parameter contents: what the devices get.
    public func findings(for contents: [DeviceContent], within limits: SizeLimits) -> [Finding] {
        var findings = ownFindings(within: limits)
        if contents.count >= Self.deviceLimit, deviceCount > contents.count {
            findings.append(
                .warning(
                    "unchecked-devices",
                    "limits were checked for \(contents.count) of \(deviceCount) devices",
                    at: "device", remedy: "declare fewer values of traits, or name devices"))
        }
        for content in contents {
            for finding in content.findings(within: limits) where !findings.contains(finding) {
                findings.append(finding)
            }
        }
        return findings
    }

    private func ownFindings(within limits: SizeLimits) -> [Finding] {
        var findings: [Finding] = []
        for pack in packs {
            findings += Finding.exceeding(
                limits.pack, pack.openedSize, "the pack '\(pack.id)' has", at: pack.id.description,
                "give its files more tags, or divide them")
        }
        findings += Finding.exceeding(
            limits.hosted, packs.totalSize, "all packs have", at: "hosted",
            "remove variants or files that no device needs")
        if let limit = limits.packCount, packs.count > limit {
            findings.append(
                Finding(
                    .error(.limit), "limit", "\(packs.count) packs are more than \(limit)", at: "packs",
                    remedy: "use fewer sets of tags and traits"))
        }
        for (family, paths) in untagged.sorted(by: { $0.key < $1.key }) {
            guard let first = paths.first else { continue }
            findings.append(
                .warning(
                    "files-without-pack",
                    "\(paths.count.counting("file")) of '\(family)' \(paths.count == 1 ? "is" : "are") in no pack; '\(first)' is the first",
                    at: family.description, remedy: "give a tag, or exclude what is not needed"))
        }
        return findings + Finding.conflicting(conflicts) + notices + mistakes + executables
    }
}

extension DeviceContent {
    fileprivate func findings(within limits: SizeLimits) -> [Finding] {
        let essential = openedSize(of: [.essential])
        let place = "essential packs"
        let move = "move tags from \"initial\" to \"prefetch\""
        var findings =
            Finding.exceeding(limits.initial, essential, "essential packs have", at: place, move)
            + Finding.exceeding(
                limits.app, essential, "the app with its essential packs has", at: place, move)
        findings += Finding.exceeding(
            limits.meteredInstall, essential, "an installation over a mobile network has", at: place,
            "\(move), or let users wait for another network", .warning)
        findings += Finding.exceeding(
            limits.initialAndPrefetched, openedSize(of: [.essential, .prefetch]),
            "essential and prefetched packs have", at: place, "make more tags on demand")
        for (tag, size) in tagSizes.sorted(by: { $0.key < $1.key }) {
            let problem = "the tag '\(tag)' has"
            let before = findings.count
            findings += Finding.exceeding(limits.tag, size, problem, at: tag, "divide it into several tags")
            findings += Finding.exceeding(
                limits.inUse, size, "\(problem), in use at a time,", at: tag,
                "divide it: a request of it uses all of it")
            if findings.count == before {
                findings += Finding.exceeding(
                    limits.recommendedTag, size, problem, at: tag,
                    "smaller tags arrive sooner and are purged sooner", .warning)
            }
        }
        return findings
    }
}

extension Finding {
    /// The maximum number of conflicts that are named.
    private static let conflictLimit = 8

    /// Paths with different content in two packs.
    static func conflicting(_ conflicts: [ContentPlan.Conflict]) -> [Finding] {
        var findings = conflicts.prefix(conflictLimit).map { conflict in
            Finding.warning(
                "conflicting-paths",
                "'\(conflict.path)' differs between '\(conflict.first)', which counts, and '\(conflict.other)'",
                at: conflict.path.string, remedy: "rename one of them, if an app reads both packs as one tree"
            )
        }
        if conflicts.count > conflictLimit {
            findings.append(
                .warning(
                    "conflicting-paths",
                    "\(conflicts.count - conflictLimit) more paths have different content in two packs",
                    at: "packs", remedy: "rename one of each"))
        }
        return findings
    }

    /// Changed packs whose updates are not counted; empty where there are none.
    ///
    /// - Parameter count: ``PublicationReport/uncountedUpdates``.
    public static func uncountedUpdates(_ count: Int) -> [Finding] {
        guard count > 0 else { return [] }
        return [
            .warning(
                "uncounted-updates",
                "\(count.counting("more pack")) changed: what their updates cost was not computed, and counts as nothing",
                at: "packs",
                remedy: "publish in parts, to see what each costs")
        ]
    }

    /// Empty where the size is within the limit.
    fileprivate static func exceeding(
        _ limit: UInt64?, _ size: UInt64, _ subject: String, at place: String, _ remedy: String,
        _ severity: Severity = .error(.limit)
    ) -> [Finding] {
        guard let limit, size > limit else { return [] }
        return [
            Finding(
                severity, "limit", "\(subject) \(size) bytes, \(size - limit) more than \(limit)", at: place,
                remedy: remedy)
        ]
    }
}

extension ContentPlan {
    /// Stated traits that no variants have, and that are probably mistyped.
    public func findings(ofStated device: DeviceTraits) -> [Finding] {
        let known = traitValues
        return device.names.compactMap { name in
            guard known[name] != nil else {
                let remedy = "leave it out, or declare it"
                return .warning(
                    "unknown-trait", "no pack has the trait '\(name.excerpt)', which the device states",
                    at: "device",
                    remedy: Suggestion.nearest(to: name, among: known.keys.sorted()).map {
                        "did you mean '\($0)'? Else \(remedy)"
                    } ?? remedy)
            }
            let needsNumber = packs.contains {
                if case .number? = $0.offer.devices[name] { true } else { false }
            }
            guard needsNumber, !device[name].contains(where: { Int64($0) != nil }) else { return nil }
            return .warning(
                "no-number",
                "the trait '\(name)' is a number, and the device states none: it gets the greatest one",
                at: "device", remedy: "state a number, such as \(name)=2")
        }
    }
}
