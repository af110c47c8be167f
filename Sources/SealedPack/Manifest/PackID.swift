public import VaultBase

/// The name of a pack: lowercase segments joined by `/`, for example `levels/one`.
///
/// Each segment matches `[a-z0-9][a-z0-9._-]{0,63}` and contains no `..`; the whole is at most 512 bytes.
/// The segment `current` is reserved: on a client it names the pointer to a pack's live version.
/// An ID can therefore be used unchanged in URL and file paths.
public struct PackID: Hashable, Sendable, Comparable, CustomStringConvertible {
    public static let maximumLength = 512

    public let description: String

    /// Throws `.usage`, naming the rule that `text` breaks.
    public init(_ text: String) throws(VaultError) {
        func refuse(_ problem: String) -> VaultError {
            VaultError(
                .usage, problem, at: "pack ID '\(text.prefix(80))'",
                remedy: "use lowercase segments like 'levels/one': letters, digits, '.', '_' and '-'")
        }
        guard !text.isEmpty, text.utf8.count <= Self.maximumLength else {
            throw refuse("an ID has 1 to \(Self.maximumLength) bytes")
        }
        for segment in text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let first = segment.first, segment.count <= 64 else {
                throw refuse("each segment has 1 to 64 characters")
            }
            guard Self.isAlphanumeric(first), segment.allSatisfy(Self.isAllowed) else {
                throw refuse("a segment begins with a lowercase letter or digit and has only [a-z0-9._-]")
            }
            let hasTwoDots = zip(segment, segment.dropFirst()).contains {
                $0 == $1 && $0 == UInt8(ascii: ".")
            }
            guard !hasTwoDots else { throw refuse("'..' is not allowed") }
            guard !segment.elementsEqual("current".utf8) else {
                throw refuse("the segment 'current' is reserved")
            }
        }
        description = text
    }

    /// Whether it begins with the segments of `family`, and has more.
    public func isMember(of family: PackID) -> Bool { description.utf8.starts(with: "\(family)/".utf8) }

    /// The path of the pack's target on a site, before its hash is prefixed to the name.
    public var targetPath: String { "packs/\(description).avpack" }

    /// The ID whose target has this path, nil when it is not a pack's path.
    public init?(targetPath: String) {
        let path = targetPath.utf8
        guard path.starts(with: "packs/".utf8), path.count > 13, path.suffix(7).elementsEqual(".avpack".utf8),
            let middle = String(path.dropFirst(6).dropLast(7)), let id = try? PackID(middle)
        else { return nil }
        self = id
    }

    public static func < (left: PackID, right: PackID) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "._-".utf8.contains(byte)
    }
}
