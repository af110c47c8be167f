/// Incompressible test content, the same in every run.
enum Bytes {
    /// By SplitMix64.
    static func random(_ count: Int, seed: UInt64) -> [UInt8] {
        var state = seed
        let words = (0..<(count + 7) / 8).map { _ in
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
        return unsafe words.withUnsafeBytes { unsafe [UInt8]($0.prefix(count)) }
    }
}
