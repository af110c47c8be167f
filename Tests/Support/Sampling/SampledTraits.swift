/// What random tests of variants draw from, and the variant that a device prefers by a model that looks at one trait after the other.
public enum SampledTraits {
    public static let values: [String: [String]] = [
        "scale": ["1", "2", "3", "4"], "texture": ["astc", "bc7", "etc2", "png"],
        "language": ["de", "de-AT", "de-LU", "en", "en-US", "fr", "pt-AO", "pt-BR", "zh-Hant-TW"],
    ]
    /// What devices and fallbacks name besides.
    private static let others = ["it", "de-CH", "en-GB", "pt", "pt-PT", "zh-Hans"]
    private static let otherNumbers = ["0", "5", "7"]

    /// What a device states: up to three values of some traits, the preferred one first.
    public static func device(_ random: inout SeededGenerator) -> [String: [String]] {
        var device: [String: [String]] = [:]
        for (name, values) in values.sorted(by: { $0.key < $1.key }) where Bool.random(using: &random) {
            let known = (values + others + otherNumbers).shuffled(using: &random)
            device[name] = Array(known.prefix(.random(in: 1...3, using: &random)))
        }
        return device
    }

    /// Up to two values each of language and texture, for devices that state nothing that fits.
    public static func fallbacks(_ random: inout SeededGenerator) -> [String: [String]] {
        var fallbacks: [String: [String]] = [:]
        for name in ["language", "texture"] {
            let known = (values[name, default: []] + others).shuffled(using: &random)
            fallbacks[name] = Array(known.prefix(.random(in: 0...2, using: &random)))
        }
        return fallbacks
    }

    /// The preferred variant of a device has the least rank.
    public static func rank(
        _ traits: [String: String], for device: [String: [String]], _ fallbacks: [String: [String]]
    ) -> [Int] {
        ["language", "texture", "scale"].flatMap { name -> [Int] in
            guard let value = traits[name] else { return [] }
            let tie = values[name]?.firstIndex(of: value) ?? -1
            return rank(value, of: name, for: device[name] ?? [], fallbacks[name] ?? []) + [tie]
        }
    }

    private static func rank(
        _ value: String, of name: String, for wanted: [String], _ fallback: [String]
    ) -> [Int] {
        switch name {
        case "scale":
            let number = Int(value) ?? 0
            guard let wanted = wanted.lazy.compactMap({ Int($0) }).first else { return [0, -number] }
            return number >= wanted ? [0, number] : [1, -number]
        case "texture": return [(wanted + fallback).firstIndex(of: value) ?? 1000, 0]
        default:
            let subtags = value.split(separator: "-")
            for (index, range) in (wanted + fallback).enumerated() {
                let range = range.split(separator: "-")
                if range.starts(with: subtags) { return [index, range.count - subtags.count] }
                if subtags.starts(with: range) { return [index, 50] }
                if subtags.first == range.first { return [index, 60] }
            }
            return [1000, 0]
        }
    }
}
