/// The catalog's layout, all integers big-endian:
///
///     index SHA-256 32 | pack version u64 | pack ID length u16 | zero u16 | piece count u32 | entry count u32 |
///     path table length u32 | pack ID | piece records | entry records | path table
///
/// "index SHA-256" is the SHA-256 of the pack's index (the piece digests). A piece record is
/// `stream end u64 | SHA-256 of the plaintext 32`; an entry record is `path end u32 | kind u8 | zero 3 | stream end u64`.
/// The stream is all files' bytes one after the other. Each record states where its part *ends*; it begins where the one
/// before it ended, so parts can neither overlap nor leave a gap, and both tables can be searched in place.
package enum CatalogFormat {
    package static let fixedLength = 56
    package static let pieceRecordLength = 40
    static let entryRecordLength = 16
}
