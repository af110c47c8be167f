import FoundationEssentials
import Glibc

extension Update {
    /// Publishes the old version for a client, then the new one, and counts what the client downloads for that; then
    /// lets the others do the same, each in a new folder. Bytes are the same each time, so there are no rounds.
    func measured(of options: Options, server: WebServer) throws -> UpdateOutcome {
        Progress.note("update of \(name): publishing")
        let folder = options.work + "/update"
        let served = server.root + "/update"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: served, withDestinationPath: folder + "/vault/site")
        defer {
            try? FileManager.default.removeItem(atPath: served)
            try? FileManager.default.removeItem(atPath: folder)
        }
        var environment = Workshop.variables(of: options)
        environment.merge([
            "old": old, "new": new, "vault": folder + "/vault", "store": folder + "/store",
            "url": "http://127.0.0.1:\(server.port)/update",
        ]) { $1 }
        func run(_ script: String) throws -> Cost {
            try MeasuredProcess.run(script, environment: environment, errors: options.work + "/errors")
        }
        _ = try run(Self.preparation)
        sync()
        server.clearLog()
        let cost = try run("$assetvault downloader $url --store $store --request update")
        let traffic = try server.traffic()
        let targets = try UpdatedTargets(
            ofFile: folder + "/vault/site/metadata/2.targets.json", path: "packs/game.avpack")
        let others = try rivals.map { rival in
            Progress.note("update of \(name): \(rival.name)")
            environment["out"] = folder + "/" + rival.name
            _ = try run("mkdir $out\n" + Rival.functions + rival.script)
            return UpdateOutcome.Other(
                name: rival.name, script: rival.script,
                bytes: try Self.number(inFile: folder + "/" + rival.name + "/bytes"))
        }
        return UpdateOutcome(
            update: name, packLength: targets.length, listing: targets.listing, traffic: traffic, cost: cost,
            others: others)
    }

    private static let preparation = """
        $assetvault init $vault
        $assetvault publish $vault --pack game=$old
        $assetvault downloader $url --store $store --request install --trust $vault/trusted-root.json
        $assetvault publish $vault --pack game=$new
        """

    private static func number(inFile path: String) throws -> Int {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        guard let number = Int(text.filter { !$0.isWhitespace }) else {
            throw Failure("'\(text)' is no number of bytes")
        }
        return number
    }
}

/// What the signed metadata says of one pack.
private struct UpdatedTargets {
    let length: Int
    /// Bytes of its index and catalog.
    let listing: Int

    init(ofFile file: String, path: String) throws {
        let metadata = try JSONDecoder().decode(
            Metadata.self, from: Data(contentsOf: URL(filePath: file)))
        guard let target = metadata.signed.targets[path] else { throw Failure("no \(path) in \(file)") }
        length = target.length
        let pack = target.custom.assetvault
        listing = (pack.index?.length ?? 0) + (pack.catalog?.length ?? 0)
    }

    private struct Metadata: Decodable {
        struct Signed: Decodable { let targets: [String: Target] }
        struct Target: Decodable {
            let length: Int
            let custom: Custom
        }
        struct Custom: Decodable { let assetvault: Pack }
        struct Pack: Decodable {
            let index: Part?
            let catalog: Part?
        }
        struct Part: Decodable { let length: Int }
        let signed: Signed
    }
}
