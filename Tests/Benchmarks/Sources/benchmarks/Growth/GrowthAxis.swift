import FoundationEssentials

/// Up to which sizes cost is measured.
struct GrowthLimits: Sendable {
    let files: Int
    let megabytes: Int
    let packs: Int
}

/// A quantity that grows, and the operations whose cost grows with it.
struct GrowthAxis: Sendable {
    let name: String
    /// The name of one item, and the unit of its time, in seconds.
    let one: String
    let unit: String
    let secondsAUnit: Double
    let sizes: [Int]
    /// From this size up, cost per item must be constant.
    let flatFrom: Int?
    /// Whether it is many small files: a disk may take minutes to remove them.
    let isSmall: Bool
    let operations: [GrowthOperation]
    /// Makes the folder of assets.
    let fill: @Sendable (_ folder: String, _ size: Int, _ assets: inout AssetBytes) throws -> Void

    /// Bytes first: they need a disk that is not full of small files yet.
    static func all(_ limits: GrowthLimits) -> [GrowthAxis] {
        [megabytes(upTo: limits.megabytes), packs(upTo: limits.packs), files(upTo: limits.files)]
    }

    /// Small files, up to a thousand in a folder.
    private static func files(upTo most: Int) -> GrowthAxis {
        GrowthAxis(
            name: "files", one: "file", unit: "µs", secondsAUnit: 1e-6, sizes: powersOfTen(1, most),
            flatFrom: 1000, isSmall: true,
            operations: GrowthOperation.ofOnePack
        ) { folder, size, assets in
            for number in 0..<size {
                let parent = "\(folder)/\(number / 1000)"
                if number.isMultiple(of: 1000) { try AssetBytes.makeFolder(parent) }
                try assets.write(smallSize(number), to: "\(parent)/\(number % 1000)")
            }
        }
    }

    /// Files of 100 MB.
    private static func megabytes(upTo most: Int) -> GrowthAxis {
        GrowthAxis(
            name: "megabytes", one: "MB", unit: "ms", secondsAUnit: 1e-3,
            sizes: [10, 100, 1000, 4000, 16_000].filter { $0 <= most }, flatFrom: 100, isSmall: false,
            operations: GrowthOperation.ofOnePack
        ) { folder, size, assets in
            for start in stride(from: 0, to: size, by: 100) {
                try assets.write(min(100, size - start) * 1_000_000, to: "\(folder)/\(start)")
            }
        }
    }

    /// Packs of one small file each.
    private static func packs(upTo most: Int) -> GrowthAxis {
        GrowthAxis(
            name: "packs", one: "pack", unit: "ms", secondsAUnit: 1e-3, sizes: powersOfTen(1, most),
            flatFrom: nil, isSmall: true,
            operations: GrowthOperation.ofPacks
        ) { folder, size, assets in
            for number in 1...size {
                try AssetBytes.makeFolder("\(folder)/\(number)")
                try assets.write(smallSize(number), to: "\(folder)/\(number)/asset")
            }
        }
    }

    /// Between 0.5 and 3.5 KB, 2 KB in the middle.
    private static func smallSize(_ number: Int) -> Int { 500 + number * 2_654_435_761 % 3001 }

    private static func powersOfTen(_ least: Int, _ most: Int) -> [Int] {
        var sizes: [Int] = []
        var size = least
        while size <= most {
            sizes.append(size)
            size *= 10
        }
        return sizes
    }
}
