/// The only error type of all modules: what is wrong, where, and what to do about it.
///
/// A category is stable and maps to one exit code of the command; the texts are for people and may change. No text
/// holds a secret. Control characters in attacker-supplied names are escaped, so that an error is one line and can't
/// control a terminal.
public struct VaultError: Error, Sendable, Equatable {
    /// The kind of failure, with the command's exit code (`sysexits.h`).
    public enum Category: String, Sendable, CaseIterable {
        /// The request itself is invalid (64).
        case usage
        /// Data has the wrong size, hash, authentication tag or structure (65).
        case corrupt
        /// A named input does not exist (66).
        case missing
        /// No pack has a tag that was asked for (67).
        case unknownTag
        /// A host can't be reached, or the app allows no network (68).
        case unreachable
        /// A host fails, or sends what is unusable (69).
        case unavailable
        /// The disk is full (71).
        case diskFull
        /// The metadata of a site list a file that its host does not have (72).
        case notHosted
        /// An output exists already or can't be created (73).
        case unwritable
        /// Reading or writing failed (74).
        case io
        /// The task was cancelled, or the work on one pack was abandoned (75).
        case cancelled
        /// Another process has locked what is needed; try again later (75).
        case busy
        /// Signature, rollback or expiry checks failed (76).
        case untrusted
        /// A key is missing, wrong or stored unsafely (77).
        case key
        /// A configured size limit would be exceeded (78).
        case limit
        /// More would be in access at a time than the app allows (79).
        case accessLimit
    }

    public let category: Category
    /// What it is, more closely than the category says: stable, and what programs decide by. Else the category's name, such as
    /// `not-hosted`.
    public let code: Finding.Code
    /// The problem, as a clause without a full stop.
    public let problem: String
    /// Where: a file, a URL, an entry, a role.
    public let place: String
    /// What the reader can do, as a clause without a full stop.
    public let remedy: String

    /// What the remedy needs, for programs that have words of their own for it.
    public let hint: Hint?

    /// The bytes by which disk space or a limit is too small, where that is the problem.
    public let missingBytes: UInt64?

    public init(
        _ category: Category, _ problem: String, at place: String, remedy: String, hint: Hint? = nil,
        missingBytes: UInt64? = nil, code: Finding.Code? = nil
    ) {
        self.category = category
        self.code = code ?? Finding.Code(category)
        self.problem = problem
        self.place = place
        self.remedy = remedy
        self.hint = hint
        self.missingBytes = missingBytes
    }
}

extension Finding.Code {
    /// Of an error of which only the category is known, such as `not-hosted`.
    public init(_ category: VaultError.Category) {
        self.init(
            stringLiteral: category.rawValue.reduce(into: "") { name, letter in
                name += letter.isUppercase ? "-\(letter.lowercased())" : "\(letter)"
            })
    }
}

extension VaultError {
    /// The same error with other parts: what is not named stays. Another category has its own code.
    public func with(
        _ category: Category? = nil, problem: String? = nil, at place: String? = nil, remedy: String? = nil,
        hint: Hint? = nil
    ) -> VaultError {
        VaultError(
            category ?? self.category, problem ?? self.problem, at: place ?? self.place,
            remedy: remedy ?? self.remedy, hint: hint ?? self.hint, missingBytes: missingBytes,
            code: category == nil || category == self.category ? code : nil)
    }

    /// The task was cancelled; finished work is kept for the next attempt.
    public static func cancelled(_ place: String) -> VaultError {
        VaultError(
            .cancelled, "the work was cancelled", at: place, remedy: "start it again when it is needed")
    }

    /// Replaces `CancellationError`, which typed throws don't allow.
    public var isCancellation: Bool { category == .cancelled }

    /// Whether a host or the way to it failed; another host, or another time, may do.
    public var isHostFailure: Bool {
        switch category {
        case .unreachable, .unavailable, .notHosted: true
        default: false
        }
    }

    /// Whether a disk failed or is full; the data itself may be correct.
    public var isStorageFailure: Bool { category == .io || category == .diskFull }
}

extension VaultError: CustomStringConvertible {
    /// One line: place, problem, remedy.
    public var description: String {
        "\(place): \(problem); \(remedy)".escapingControls
    }
}

extension String {
    /// The first 80 characters of untrusted text, for an error message.
    public var excerpt: String {
        let start = String(unicodeScalars.prefix(80))
        return start.utf8.count == utf8.count ? self : start + "…"
    }

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

/// An argument or an action that a remedy speaks of. Each program has its own words for it, such as an option's name.
public enum Hint: Sendable, Hashable {
    /// The root file that pins a site.
    case trustedRoot
    /// Leave to replace an existing file.
    case replacing
    /// Packing what symbolic links lead to.
    case followingLinks
    /// A higher limit for what an archive unpacks to.
    case unpackingLimit
    /// A manifest, or a site and its root, to check a pack against.
    case evidence
    /// Repairing the folder of a site from a host of it.
    case repairingSite(folder: String)
    /// Removing files from a site that no client needs any more.
    case pruning
    /// The same, also of the versions that could be restored.
    case pruningToLastVersions
    /// Putting an earlier version live that only removed keys have signed.
    case acceptingRemovedKeys
    /// Promoting a lower version than the one that is listed.
    case allowingOlder
    /// Listing the sources of a channel again that was restored.
    case releasing(String)
    /// Going on from what the host has, without the published packs.
    case publishingFromHost
    /// Signing a file where the keys are kept.
    case signing
    /// Replacing the key of a role, in a vault.
    case rotation(role: String, vault: String)
    case makingVaultKey
    /// Taking a vault key out of use, by its ID.
    case retiringKey(String)
    /// Making the key that held packs are sealed for.
    case makingHeldKey
    /// Putting a new vault key in the place of another one.
    case replacingKey
    /// Taking the replaced keys of an audience out of use; nil is the vault itself.
    case finishingReplacement(audience: String?)
    case publishing
    case makingVault
    /// The limit of what all programs may have in access at a time.
    case accessLimit
    /// The key of a pack, which waits for it.
    case givingKey
    /// Opening packs that a store keeps sealed.
    case openingPacks([String], store: [String])
    /// The passphrase of a key file.
    case passphrase
}

/// The outcome of asynchronous work, as a value.
public func outcome<Value>(
    of work: () async throws(VaultError) -> Value
) async -> Result<Value, VaultError> {
    do throws(VaultError) { return .success(try await work()) } catch { return .failure(error) }
}

/// What `body` returns; nil where it fails in one of these ways.
package func optional<R: ~Copyable>(
    _ body: @autoclosure () throws(VaultError) -> R?, ignoring categories: VaultError.Category...
) throws(VaultError) -> R? {
    do throws(VaultError) { return try body() } catch {
        guard categories.contains(error.category) else { throw error }
        return nil
    }
}
