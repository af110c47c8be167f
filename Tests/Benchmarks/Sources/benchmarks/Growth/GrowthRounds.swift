import FoundationEssentials
import Glibc

/// The cost of each operation at each size.
struct Growth: Codable, Sendable {
    struct Point: Codable, Sendable {
        let size: Int
        let runs: [Cost]

        var wall: Double { Spread(runs.map(\.wall)).median }
        var peakMemory: Int { runs.map(\.peakMemory).max() ?? 0 }
    }
    struct Series: Codable, Sendable {
        let operation: String
        let script: String
        var points: [Point] = []
    }

    let axis: String
    let one: String
    let unit: String
    let secondsAUnit: Double
    let flatFrom: Int?
    var series: [Series]
}

extension GrowthAxis {
    /// Seconds after which an operation is not repeated.
    private static let patience = 60.0

    func measured(_ options: Options, server: WebServer) throws -> Growth {
        var assets = try AssetBytes(of: options.cache + "/corpora")
        var growth = Growth(
            axis: name, one: one, unit: unit, secondsAUnit: secondsAUnit, flatFrom: flatFrom,
            series: operations.map { Growth.Series(operation: $0.name, script: $0.script) })
        for size in sizes {
            Progress.note("\(size) \(name): making assets")
            let folder = "\(isSmall ? options.small : options.work)/\(name)-\(size)"
            try AssetBytes.makeFolder(folder)
            try AssetBytes.makeFolder(folder + "/source")
            try fill(folder + "/source", size, &assets)
            let place = GrowthPlace(
                folder: folder, isInMemory: isSmall, size: size, options: options, server: server)
            for (index, operation) in operations.enumerated() {
                Progress.note("\(size) \(name): \(operation.name)")
                let runs = try place.runs(of: operation, rounds: options.rounds, patience: Self.patience)
                growth.series[index].points.append(Growth.Point(size: size, runs: runs))
            }
            try place.clear()
        }
        return growth
    }
}

/// The folder of the operations of one size.
private struct GrowthPlace {
    let folder: String
    /// There what was written is removed. Disks may take an hour for that, and be slow afterwards: it is cut to nothing.
    let isInMemory: Bool
    let environment: [String: String]

    init(folder: String, isInMemory: Bool, size: Int, options: Options, server: WebServer) {
        self.folder = folder
        self.isInMemory = isInMemory
        environment = Workshop.variables(of: options).merging([
            "folder": folder, "source": folder + "/source", "out": folder + "/out",
            "key": folder + "/vault.jwks",
            "size": String(size), "www": server.root + "/growth",
            "url": "http://127.0.0.1:\(server.port)/growth",
        ]) { $1 }
    }

    /// As many runs as begin within the patience, at most `rounds`.
    func runs(of operation: GrowthOperation, rounds: Int, patience: Double) throws -> [Cost] {
        _ = try run(operation.preparation)
        var runs: [Cost] = []
        let last = folder + "/" + operation.name
        repeat {
            if !runs.isEmpty { try spend(last) }
            try AssetBytes.makeFolder(folder + "/out")
            _ = try run(operation.setup)
            sync()
            runs.append(try run(operation.script))
            try FileManager.default.moveItem(atPath: folder + "/out", toPath: last)
        } while runs.count < rounds && runs.reduce(0, { $0 + $1.wall }) < patience
        for name in operation.frees { try spend(folder + "/" + name) }
        return runs
    }

    private func spend(_ path: String) throws {
        guard !isInMemory else { return try FileManager.default.removeItem(atPath: path) }
        _ = try FolderSize.empty(path)
        try FileManager.default.moveItem(atPath: path, toPath: "\(folder)/spent-\(UUID().uuidString)")
    }

    /// After all measurements.
    func clear() throws {
        guard !isInMemory else { return try FileManager.default.removeItem(atPath: folder) }
        _ = try FolderSize.empty(folder)
    }

    private func run(_ script: String) throws -> Cost {
        try MeasuredProcess.run(script, environment: environment, errors: folder + "/errors")
    }
}
