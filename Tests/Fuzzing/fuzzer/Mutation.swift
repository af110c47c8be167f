/// Changes seeds at random, without a look at the code that reads them: for short runs of a plain build.
struct Mutation {
    private let seeds: [[UInt8]]
    private let dictionary: [[UInt8]]
    /// SplitMix64.
    private var state: UInt64

    init(of seeds: [[UInt8]], dictionary: [[UInt8]], seed: UInt64) {
        (self.seeds, self.dictionary, state) = (seeds, dictionary, seed)
    }

    private mutating func number(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int(truncatingIfNeeded: (word ^ (word >> 31)) >> 1) % max(1, limit)
    }

    /// A seed with one to eight changes.
    mutating func next() -> [UInt8] {
        var input = seeds[number(below: seeds.count)]
        for _ in 0...number(below: 8) { change(&input) }
        return Array(input.prefix(1 << 16))
    }

    private mutating func change(_ input: inout [UInt8]) {
        let place = number(below: input.count + 1)
        let count = min(number(below: 32), input.count - place)
        switch number(below: 7) {
        case 0 where place < input.count: input[place] ^= 1 << UInt8(number(below: 8))
        case 1 where place < input.count: input[place] = UInt8(number(below: 256))
        case 2: input.removeSubrange(place..<place + count)
        case 3: input.insert(contentsOf: input[place..<place + count], at: number(below: input.count + 1))
        case 4:
            input.insert(contentsOf: (0...number(below: 8)).map { _ in UInt8(number(below: 256)) }, at: place)
        case 5 where !dictionary.isEmpty:
            input.insert(contentsOf: dictionary[number(below: dictionary.count)], at: place)
        default:
            let other = seeds[number(below: seeds.count)]
            let start = number(below: other.count + 1)
            input.replaceSubrange(place..., with: other[start...])
        }
    }
}
