/// The ID of a key in metadata.
///
/// Compared by bytes. The specification defines it as the SHA-256 of the key's canonical JSON (TUF section 4.2.1), as
/// ``MetadataKey`` computes it. When parsed it is only a label: signatures are counted by key, and common tools add
/// members to a key after computing its ID.
public struct MetadataKeyID: Sendable, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ text: String) {
        description = text
    }

    public static func == (left: MetadataKeyID, right: MetadataKeyID) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }
}
