/// The name of a key inside metadata.
///
/// Compared byte by byte. The specification defines it as the SHA-256 of the key's canonical JSON (section
/// 4.2.1), and so ``MetadataKey`` makes it; when read it is only a label, because signatures are counted by the
/// keys themselves, and because tools in wide use add members to a key after naming it.
public struct MetadataKeyID: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ text: String) {
        description = text
    }

    public static func == (left: MetadataKeyID, right: MetadataKeyID) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }
}
