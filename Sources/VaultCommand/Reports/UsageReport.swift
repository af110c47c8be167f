import AssetVault
import SealedPack
import StrictJSON
import VaultAuthoring
import VaultBytes

/// What a store takes on the disk.
struct UsageReport: Report {
    let usage: StoreUsage
    let limits: SizeLimits

    /// A size that has a limit.
    struct Limited {
        let name: String
        let size: UInt64
        let limit: UInt64
        let remedy: String
    }

    /// What the limits apply to on a device; the others are for authors.
    var limited: [Limited] {
        let sizes: [(String, UInt64, UInt64?, String)] = [
            ("initial install", initialSize, limits.initial, "tag less as \"initial\""),
            (
                "initial install and prefetched", installedSize, limits.initialAndPrefetched,
                "leave more on demand"
            ),
            ("packs that come with the app", initialSize, limits.app, "tag less as \"initial\""),
            ("in access", accessedSize, limits.inUse, "end the access to what is not needed now"),
        ]
        return sizes.compactMap { name, size, limit, remedy in
            limit.map { Limited(name: name, size: size, limit: $0, remedy: remedy) }
        }
    }

    var excesses: [Limited] { limited.filter { $0.size > $0.limit } }

    /// A variant that another one replaced on this device is not part of its installation.
    private var initialSize: UInt64 { installedSize(of: [.essential]) }
    private var installedSize: UInt64 { installedSize(of: [.essential, .prefetch]) }

    private func installedSize(of policies: Set<PackPolicy>) -> UInt64 {
        openedSize { policies.contains($0.policy) && $0.purgeReason != .replacedVariant }
    }
    private var accessedSize: UInt64 { openedSize(where: \.isInAccess) }

    private func openedSize(where isCounted: (StoreUsage.Pack) -> Bool) -> UInt64 {
        usage.packs.filter(isCounted).saturatingSum(\.openedSize)
    }

    var lines: [String] {
        let total = usage.sizeOnDisk()
        let rows = usage.packs.map { pack in
            [
                Bar.text(pack.sizeOnDisk, of: max(largest, 1)), "\(pack.id)",
                "\(Bar.size(pack.sizeOnDisk)) on the disk,", "\(Bar.size(pack.sealedSize)) sealed,",
                "\(Bar.size(pack.openedSize)) opened", pack.policy.rawValue, pack.state, pack.order,
                pack.tags.isEmpty ? "" : "tags \(pack.tags.joined(separator: " "))",
            ]
        }
        return [
            Bar.parts(parts.map { ($0.size, $0.mark) }, of: total),
            parts.map { "\($0.mark) \($0.name) \(Bar.size($0.size))" }.joined(separator: "   "),
        ] + Columns.aligned(rows) + [
            "in all \(Bar.size(total)), free on the disk \(Bar.size(usage.freeSize))",
            "initial install: \(Bar.size(initialSize)) opened; in access: \(Bar.size(accessedSize)) opened",
        ] + limitLines + networkLines
    }

    private var limitLines: [String] {
        Columns.aligned(
            limited.map {
                [
                    Bar.text($0.size, of: max($0.limit, 1)), $0.name,
                    "\(Bar.size($0.size)) of \(Bar.size($0.limit))",
                ]
            })
    }

    private var largest: UInt64 { usage.packs.map(\.sizeOnDisk).max() ?? 0 }

    /// The store by what becomes of its packs.
    private var parts: [(name: String, mark: Character, size: UInt64)] {
        [
            ("in access", "█", usage.sizeOnDisk(where: \.isInAccess)),
            ("stays", "▓", usage.sizeOnDisk { !$0.isInAccess && $0.purgeReason == nil }),
            ("may go", "░", purgeableSize),
        ]
    }

    /// The last days on which anything was received.
    private static let shownDays = 7

    private var networkLines: [String] {
        let days = usage.network.days.sorted { $0.key < $1.key }.suffix(Self.shownDays)
        let largest = days.map(\.value.all).max() ?? 0
        return Columns.aligned(
            days.map { day, bytes in
                [
                    Bar.text(bytes.all, of: max(largest, 1)), "received \(day)", Bar.size(bytes.all),
                    bytes.metered == 0 ? "" : "\(Bar.size(bytes.metered)) of it metered",
                ]
            })
    }

    private var purgeableSize: UInt64 {
        usage.sizeOnDisk { $0.purgeReason != nil && !$0.isInAccess }
    }

    var json: JSONObject {
        [
            "packs": .objects(usage.packs) { $0.json(received: usage.network.packs[$0.id]) },
            "size": .number(usage.sizeOnDisk()),
            "initialSize": .number(initialSize), "accessedSize": .number(accessedSize),
            "limits": .objects(limited) {
                ["name": .string($0.name), "size": .number($0.size), "limit": .number($0.limit)]
            },
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

    /// What decides when it goes.
    fileprivate var order: String {
        let use = lastUse.map { "last read \($0)" } ?? "never read"
        return purgeReason == nil ? use : "preservation \(preservation), \(use)"
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
        if listedID != id { json["listedID"] = "\(listedID)" }
        json["form"] = form.map { .string($0.rawValue) }
        json["purgeReason"] = purgeReason.map { .string($0.rawValue) }
        json["lastUse"] = lastUse.map { .string($0.description) }
        return json
    }
}
