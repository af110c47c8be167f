import ArgumentParser
import SystemPackage
import UpdateFramework
import VaultAuthoring
import VaultBase

/// What an audit remembers for the next one, and how much it verifies.
struct AuditMemoryOptions: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            """
            Remember in this file what was seen and when each pack was verified; it is made if it is not \
            there. FILE.lock beside it keeps two audits apart.
            """,
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    private var path: String?

    @Option(
        help: ArgumentHelp(
            "Verify only this part of all listed bytes, such as 10%, in this run; the next one goes on.",
            valueName: "percent"), transform: Percentage.init(parsing:))
    private var sample: Percentage?

    @Option(
        help: ArgumentHelp(
            """
            Verify only this many bytes in this run, such as 20GB, or begin no other pack after this time, such as \
            90min; units of time are s, min and h.
            """,
            valueName: "bytes-or-time"))
    private var budget: AuditLimit?

    @Option(
        help: ArgumentHelp(
            "Warn of packs that were not verified within this time, by default 30d.", valueName: "days"))
    private var overdue: DayCount?

    func validate() throws {
        guard path == nil, sample != nil || budget != nil || overdue != nil else { return }
        throw ValidationError(
            "--sample, --budget and --overdue need --state: a file to remember what was verified")
    }

    var paths: [FilePath] { path.map { [FilePath($0), FilePath($0 + ".lock")] } ?? [] }

    func requireUnused(for pack: String) throws(VaultError) {
        guard path != nil else { return }
        throw VaultError(.usage, "--state is for sites", at: pack, remedy: "omit it, or name the pack's site")
    }

    /// Nil without a file.
    func ledger() throws(VaultError) -> AuditLedger? {
        guard let path else { return nil }
        var limits = AuditBudget(share: sample?.hundredths)
        switch budget {
        case .bytes(let count): limits.bytes = count.bytes
        case .time(let time): limits.time = time
        case nil: break
        }
        return try AuditLedger(
            at: FilePath(path), budget: limits, overdueDays: overdue?.days ?? 30, now: .now)
    }
}

/// A part of a whole: `5%`, `0.25%`.
private struct Percentage {
    /// From 1 to 10,000.
    let hundredths: UInt64

    init(parsing text: String) throws {
        guard let percentage = Self(text) else {
            let isMeant = Self(text + "%") != nil
            throw ValidationError("write \(isMeant ? "\(text)%" : "a part of all, such as 10% or 0.25%")")
        }
        self = percentage
    }

    private init?(_ text: String) {
        guard text.hasSuffix("%") else { return nil }
        let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let decimals = parts.count == 2 ? parts[1] : "0"
        guard parts[0].allSatisfy(\.isASCII), decimals.allSatisfy({ "0"..."9" ~= $0 }),
            let whole = UInt64(parts[0]),
            whole <= 100, (1...2).contains(decimals.count), let rest = UInt64(decimals)
        else { return nil }
        hundredths = whole * 100 + (decimals.count == 1 ? rest * 10 : rest)
        guard (1...AuditBudget.wholeShare).contains(hundredths) else { return nil }
    }
}

/// The cost of one run: `20GB`, `10min`. A number alone could be either.
private enum AuditLimit: ExpressibleByArgument {
    case bytes(ByteCount)
    case time(Duration)

    init?(argument: String) {
        let digits = argument.prefix { "0"..."9" ~= $0 }
        if let unit = Self.seconds[String(argument.dropFirst(digits.count))] {
            guard let count = UInt32(digits) else { return nil }
            self = .time(.seconds(Int64(count) * unit))
        } else {
            guard argument.last?.isLetter == true, let count = ByteCount(argument: argument) else {
                return nil
            }
            self = .bytes(count)
        }
    }

    private static let seconds: [String: Int64] = ["s": 1, "min": 60, "h": 3600]
}

extension AuditCoverage {
    static var columns: [Column<AuditCoverage>] {
        [
            .number("listedPacks") { $0.listed.packs }, .number("listedBytes") { $0.listed.bytes },
            .number("verifiedPacks") { $0.inThisRun.packs }, .number("verifiedBytes") { $0.inThisRun.bytes },
            .number("overdueDays") { $0.overdueDays },
            .number("recentPacks") { $0.recent.packs }, .number("recentBytes") { $0.recent.bytes },
            .number("recentPacksWithKeys") { $0.recentWithKeys.packs },
            .number("recentBytesWithKeys") { $0.recentWithKeys.bytes },
            .number("neverPacks") { $0.never.packs }, .number("neverBytes") { $0.never.bytes },
            .text("oldest") { $0.oldest }, .number("oldestDays") { $0.oldestDays },
            .lines { [$0.text] },
        ]
    }

    private var text: String {
        var text = "verified in this run: \(Bar.size(inThisRun.bytes)) of \(Bar.size(listed.bytes))"
        guard inThisRun != listed else { return text }
        if never.packs == 0, let oldestDays {
            return text + "; all within \(oldestDays.counting("day"))"
        }
        text += "; within \(overdueDays.counting("day")): \(Bar.size(recent.bytes))"
        return text + "; never: \(Bar.size(never.bytes))"
    }
}
