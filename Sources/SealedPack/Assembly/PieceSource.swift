public import VaultErrors
import VaultFileSystem

/// Something that may have pieces of another pack, by an index that nobody believes.
public protocol PieceSource: Sendable {
    /// Whose index says which pieces it may have.
    var pack: PackFile { get }

    /// Whether it has a piece of its own, as far as that is known without reading it.
    ///
    /// - Parameters:
    ///   - place: where the piece lies in its pack, by its index.
    func has(piece number: Int, at place: Range<UInt64>) -> Bool

    /// What it has for a piece of its own: bytes that are nothing until their digest is known.
    ///
    /// - Parameters:
    ///   - place: where the piece lies in its pack, by its index.
    func ciphertext(ofPiece number: Int, at place: Range<UInt64>) throws(VaultError) -> [UInt8]
}

/// A sealed pack has its pieces as they are.
extension PackFile: PieceSource {
    public var pack: PackFile { self }

    public func has(piece number: Int, at place: Range<UInt64>) -> Bool { true }

    public func ciphertext(ofPiece number: Int, at place: Range<UInt64>) throws(VaultError) -> [UInt8] {
        try file.readExactly(place.count, at: place.lowerBound)
    }
}
