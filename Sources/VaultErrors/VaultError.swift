/// The one error of every module: what was wrong, where, and what to do about it.
///
/// A category is stable and maps to one exit code of the command; the texts are for people and may
/// change. No text ever holds a secret. Attacker-supplied names are shown with their control
/// characters escaped, so that an error is always one line and never drives a terminal.
public struct VaultError: Error, Sendable, Equatable {
    /// What kind of failure this is; see `sysexits.h` for the codes of the command.
    public enum Category: String, Sendable, CaseIterable {
        /// The request itself makes no sense (64).
        case usage
        /// Data has the wrong size, hash, authentication tag or structure (65).
        case corrupt
        /// A named input does not exist (66).
        case missing
        /// A host can't be reached or fails (69).
        case unavailable
        /// An output exists already or can't be made (73).
        case unwritable
        /// Reading or writing failed (74).
        case io
        /// There is no room: the disk is full (74).
        case diskFull
        /// A limit that was set on sizes would be passed (74).
        case limit
        /// The task was cancelled, or the work on one pack was given up (74).
        case cancelled
        /// Somebody else holds what is needed; try again later (75).
        case busy
        /// Signatures, rollback or expiry forbid believing this (76).
        case untrusted
        /// A key is missing, wrong or badly kept (77).
        case key
    }

    public let category: Category
    /// What was wrong, as a clause without a full stop.
    public let problem: String
    /// Where: a file, a URL, an entry, a role.
    public let place: String
    /// What the reader can do, as a clause without a full stop.
    public let remedy: String

    /// What the remedy needs, for programs that have words of their own for it.
    public let hint: Hint?

    public init(
        _ category: Category, _ problem: String, at place: String, remedy: String, hint: Hint? = nil
    ) {
        self.category = category
        self.problem = problem
        self.place = place
        self.remedy = remedy
        self.hint = hint
    }
}

extension VaultError {
    /// The task was cancelled; what was done so far stays for the next attempt.
    public static func cancelled(_ place: String) -> VaultError {
        VaultError(
            .cancelled, "the work was cancelled", at: place, remedy: "start it again when it is wanted")
    }

    /// What `CancellationError` is elsewhere: typed errors can't be of that type.
    public var isCancellation: Bool { category == .cancelled }

    /// Whether a disk failed or is full, rather than what was read being wrong.
    public var isOfStorage: Bool { category == .io || category == .diskFull }
}

extension VaultError: CustomStringConvertible {
    /// One line: place, problem, remedy.
    public var description: String {
        "\(place): \(problem); \(remedy)".escapingControls
    }
}

extension String {
    /// The text with control and bidirectional formatting characters shown as `\u{…}`.
    public var escapingControls: String {
        var shown = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                shown += scalar.escaped(asASCII: true)
            default:
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
