import SealedPack
public import VaultErrors
import VaultSite

/// One thing that an audit found.
public struct AuditFinding: Sendable, Equatable {
    public enum Severity: Sendable, Equatable {
        /// Something is wrong now; the category is that of the failure that it leads to.
        case error(VaultError.Category)
        /// Nothing is wrong yet.
        case warning
        /// Nothing is wrong, and yet one should know.
        case note

        /// `error`, `warning` or `note`.
        public var name: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .note: "note"
            }
        }
    }

    public let severity: Severity
    /// A file, a URL or a role. It may hold any characters: show it by ``description``.
    public let place: String
    /// What is the case, as a clause without a full stop.
    public let problem: String
    /// What the reader can do, as a clause without a full stop.
    public let remedy: String
    /// See ``VaultErrors/VaultError/hint``.
    public let hint: Hint?

    init(_ severity: Severity, _ problem: String, at place: String, remedy: String, hint: Hint? = nil) {
        self.hint = hint
        self.severity = severity
        self.place = place
        self.problem = problem
        self.remedy = remedy
    }

    /// The finding that `error` is. What is read from a scratch file is told of the `place` that it came from.
    init(_ error: VaultError, at place: String? = nil) {
        self.init(
            .error(error.category), error.problem, at: place ?? error.place, remedy: error.remedy,
            hint: error.hint)
    }

    /// Several listings claim one pack.
    init(contested listings: [ListedPack], at place: String) {
        let names = listings.map { "'\($0.pack.id)'" }.joined(separator: " and ")
        self.init(
            .error(.corrupt), "the site lists the packs \(names) with one content key", at: place,
            remedy: "find out who signed the one that is not the pack's, and publish without it")
    }

    /// A table of quiet names that can't be had.
    init(lostNamesAt place: String) {
        self.init(
            .note, "without this table clients find no pack that it names by its name or a tag", at: place,
            remedy: "put the publisher's copy of it there")
    }

    /// A channel whose names are quiet lists no table of them.
    init(unnamed channel: Channel, at place: String) {
        self.init(
            .error(.missing),
            "the channel '\(channel)' has quiet names and lists no table of them: clients find its packs by no name or tag",
            at: place, remedy: "publish the vault again")
    }

    /// A file that is needed until no client can need it any more.
    init(prunable problem: String, at place: String) {
        self.init(
            .note, problem, at: place,
            remedy: "prune the site: it goes when no client can need it any more", hint: .pruning)
    }

    /// The first 100 of many notes on a site; the rest are counted.
    ///
    /// - Parameter kind: what the rest are, such as `files that nothing names`.
    static func first(of notes: [AuditFinding], kind: String, at place: String) -> [AuditFinding] {
        let rest = notes.dropFirst(100).count
        guard rest > 0 else { return notes }
        return notes.dropLast(rest) + [
            AuditFinding(
                .note, "\(rest) more \(kind)", at: place,
                remedy: "prune the site: they go when no client can need them any more", hint: .pruning)
        ]
    }

    /// The error that a finding of an error would be, thrown.
    public var error: VaultError? {
        guard case .error(let category) = severity else { return nil }
        return VaultError(category, problem, at: place, remedy: remedy, hint: hint)
    }
}

extension AuditFinding: CustomStringConvertible {
    /// One line, control characters escaped: severity, place, problem, remedy.
    public var description: String {
        "\(severity.name): \(place): \(problem); \(remedy)".escapingControls
    }
}
