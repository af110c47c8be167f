/// Random numbers that follow from `Sampling.seed` and the name of what needs them (SplitMix64).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Prints the seed.
    public init(for test: String) {
        print("\(test): ASSETVAULT_SEED=\(Sampling.seed)")
        // FNV-1a: no two tests get the same numbers.
        state = test.utf8.reduce(0xCBF2_9CE4_8422_2325 ^ Sampling.seed) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
        }
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}
