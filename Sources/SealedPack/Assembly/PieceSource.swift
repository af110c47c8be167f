public import VaultErrors
import VaultFileSystem

/// A source that may have pieces of another pack, according to an unverified index.
public protocol PieceSource: Sendable {
    /// The pack whose index lists the pieces.
    var pack: PackFile { get }

    /// Whether it may have one of its pieces, without reading it.
    ///
    /// - Parameters:
    ///   - range: the piece's bytes in its pack, by its index.
    func has(piece number: Int, at range: Range<UInt64>) -> Bool

    /// The unverified ciphertext of one of its pieces.
    ///
    /// - Parameters:
    ///   - range: the piece's bytes in its pack, by its index.
    func ciphertext(ofPiece number: Int, at range: Range<UInt64>) throws(VaultError) -> [UInt8]

    /// Whether one of its pieces had the right digest when it was read; of several tasks.
    func noteVerification(of range: Range<UInt64>, isSound: Bool)
}

extension PieceSource {
    public func noteVerification(of range: Range<UInt64>, isSound: Bool) {}
}

/// A sealed pack contains the ciphertext of its pieces.
extension PackFile: PieceSource {
    public var pack: PackFile { self }

    public func has(piece number: Int, at range: Range<UInt64>) -> Bool { true }

    public func ciphertext(ofPiece number: Int, at range: Range<UInt64>) throws(VaultError) -> [UInt8] {
        try file.readExactly(range.count, at: range.lowerBound)
    }
}
