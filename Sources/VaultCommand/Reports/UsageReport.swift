import AssetVault
import SealedPack
import StrictJSON
import VaultAuthoring

/// What a store takes on the disk.
struct UsageReport: Report {
    let usage: StoreUsage
    let limits: SizeLimits

    /// A limit that is exceeded.
    struct Excess {
        let name: String
        let size: UInt64
        let limit: UInt64
        let remedy: String
    }

    var excesses: [Excess] {
        let checks: [(String, UInt64, UInt64?, String)] = [
            ("the initial install has", initialSize, limits.initial, "tag less as \"initial\""),
            ("in access are", accessedSize, limits.inUse, "end the access to what is not needed now"),
        ]
        return checks.compactMap { name, size, limit, remedy in
            limit.flatMap { size > $0 ? Excess(name: name, size: size, limit: $0, remedy: remedy) : nil }
        }
    }

    /// A variant that another one replaced on this device is not part of its installation.
    private var initialSize: UInt64 {
        openedSize { $0.policy == .essential && $0.purgeReason != .replacedVariant }
    }
    private var accessedSize: UInt64 { openedSize(where: \.isInAccess) }

    private func openedSize(where isCounted: (StoreUsage.Pack) -> Bool) -> UInt64 {
        usage.packs.filter(isCounted).reduce(0) { $0 + min($1.openedSize, .max - $0) }
    }

    var lines: [String] {
        let total = usage.sizeOnDisk()
        let share = { (size: UInt64) in Bar.text(size, of: max(total, 1)) }
        return usage.packs.map { pack in
            var line =
                "\(share(pack.sizeOnDisk)) \(pack.name ?? pack.id)  \(pack.sizeOnDisk) bytes, \(pack.policy.rawValue)"
            if !pack.tags.isEmpty { line += ", tags \(pack.tags.joined(separator: " "))" }
            line += ", \(pack.state)"
            if pack.purgeReason != nil { line += ", preservation \(pack.preservation)" }
            if let lastUse = pack.lastUse { line += ", last read \(lastUse)" }
            return line
        } + [
            "\(share(usage.sizeOnDisk(where: \.isInAccess))) in access: \(accessedSize) bytes opened",
            "\(share(purgeableSize)) purgeable: \(purgeableSize) bytes",
            "initial install: \(initialSize) bytes opened",
            "in all: \(total) bytes; free on the disk: \(usage.freeSize)",
        ] + networkLines
    }

    /// The last days on which anything was received.
    private static let shownDays = 7

    private var networkLines: [String] {
        let days = usage.network.days.sorted { $0.key < $1.key }.suffix(Self.shownDays)
        let largest = days.map(\.value.all).max() ?? 0
        return days.map { day, bytes in
            "\(Bar.text(bytes.all, of: max(largest, 1))) received \(day): \(bytes.all) bytes, \(bytes.metered) of them metered"
        }
    }

    private var purgeableSize: UInt64 {
        usage.sizeOnDisk { $0.purgeReason != nil && !$0.isInAccess }
    }

    var json: JSONObject {
        [
            "packs": .objects(usage.packs) { $0.json(received: usage.network.packs[$0.id]) },
            "size": .number(usage.sizeOnDisk()),
            "initialSize": .number(initialSize), "accessedSize": .number(accessedSize),
            "purgeableSize": .number(purgeableSize), "freeSize": .number(usage.freeSize),
            "received": .objects(usage.network.days.sorted { $0.key < $1.key }) { day, bytes in
                ["date": .string(day), "bytes": .number(bytes.all), "metered": .number(bytes.metered)]
            },
        ]
    }
}

extension StoreUsage.Pack {
    /// For people.
    fileprivate var state: String {
        if !processes.isEmpty {
            let names = processes.map { "\($0.command) (\($0.number))" }
            return "in access by \(names.joined(separator: ", "))"
        }
        if isInAccess { return "being read" }
        if form == nil { return "not ready for use" }
        return purgeReason.map { "may go: \($0.words)" } ?? "stays"
    }

    fileprivate func json(received: NetworkUsage.Bytes?) -> JSONObject {
        var json: JSONObject = [
            "id": "\(id)", "policy": .string(policy.rawValue), "tags": .texts(tags),
            "sealedSize": .number(sealedSize), "openedSize": .number(openedSize),
            "sizeOnDisk": .number(sizeOnDisk), "inAccess": .bool(isInAccess),
            "processes": .objects(processes) {
                ["process": .number($0.number), "command": .string($0.command)]
            },
            "preservation": "\(preservation)", "received": .number(received?.all ?? 0),
        ]
        json["name"] = name.map { .string($0.description) }
        json["form"] = form.map { .string($0.rawValue) }
        json["purgeReason"] = purgeReason.map { .string($0.rawValue) }
        json["lastUse"] = lastUse.map { .string($0.description) }
        return json
    }
}
