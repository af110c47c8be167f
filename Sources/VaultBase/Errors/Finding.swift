/// A message for publishers, hosts or users of packs: the problem, its place, and a remedy.
///
/// The code is stable; the texts are for people and may change. Control characters in untrusted names are escaped by
/// ``description``.
public struct Finding: Sendable, Hashable {
    public enum Severity: Sendable, Hashable {
        /// Something is wrong now; the category is that of the failure that it leads to.
        case error(VaultError.Category)
        /// Nothing is wrong yet, or it is probably a mistake.
        case warning
        /// Nothing is wrong.
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

    /// The name of a kind of finding, for programs, such as `files-without-pack`.
    public struct Code: Sendable, Hashable, ExpressibleByStringLiteral {
        public let name: String

        public init(stringLiteral name: String) { self.name = name }
    }

    public let severity: Severity
    public let code: Code
    /// A file, a URL, a role, a pack. It may contain any characters.
    public let place: String
    /// As a clause without a full stop.
    public let problem: String
    /// What the reader can do, as a clause without a full stop.
    public let remedy: String
    /// See ``VaultError/hint``.
    public let hint: Hint?

    public init(
        _ severity: Severity, _ code: Code, _ problem: String, at place: String, remedy: String,
        hint: Hint? = nil
    ) {
        self.severity = severity
        self.code = code
        self.place = place
        self.problem = problem
        self.remedy = remedy
        self.hint = hint
    }

    public static func warning(
        _ code: Code, _ problem: String, at place: String, remedy: String, hint: Hint? = nil
    ) -> Finding {
        Finding(.warning, code, problem, at: place, remedy: remedy, hint: hint)
    }
}

extension Finding {
    /// The finding that an error is; its code is that of the error.
    public init(_ error: VaultError, as severity: Severity? = nil, at place: String? = nil) {
        self.init(
            severity ?? .error(error.category), error.code, error.problem, at: place ?? error.place,
            remedy: error.remedy, hint: error.hint)
    }

    /// The error of a finding that is one; nil for others.
    public var error: VaultError? {
        guard case .error(let category) = severity else { return nil }
        return refusal(as: category)
    }

    /// The finding as an error, whatever its severity is.
    public func refusal(as category: VaultError.Category, at place: String? = nil) -> VaultError {
        VaultError(category, problem, at: place ?? self.place, remedy: remedy, hint: hint, code: code)
    }

    /// What is the case, and what to do; without the place.
    public var text: String { "\(problem); \(remedy)" }
}

extension Sequence<Finding> {
    /// Errors, then warnings, then notes; equal ones in their order. Of the kinds of errors distrust comes before damage, that before a
    /// missing file, a host's failure, and a missing key.
    public var worstFirst: [Finding] {
        let order: [VaultError.Category] = [
            .untrusted, .corrupt, .notHosted, .unreachable, .unavailable, .missing, .key,
        ]
        let byRank = Dictionary(grouping: self) { finding in
            switch finding.severity {
            case .error(let category): order.firstIndex(of: category) ?? order.count
            case .warning: order.count + 1
            case .note: order.count + 2
            }
        }
        return byRank.sorted { $0.key < $1.key }.flatMap(\.value)
    }
}

extension Finding: CustomStringConvertible {
    /// One line: severity, place, problem, remedy.
    public var description: String { "\(severity.name): \(place): \(text)".escapingControls }
}
