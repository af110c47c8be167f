import FoundationEssentials
import Glibc

extension Update {
    /// Counts what an update downloads, in turns with the others.
    func measured(of options: Options, server: WebServer) throws -> UpdateOutcome {
        var outcome = UpdateOutcome(
            update: name, others: rivals.map { UpdateOutcome.Other(name: $0.name, script: $0.script) })
        for round in 1...rounds {
            Progress.note("update of \(name): round \(round) of \(rounds)")
            let place = try UpdatePlace(self, of: options, server: server)
            defer { place.close() }
            outcome.runs.append(try place.run())
            for (index, rival) in rivals.enumerated() where round == 1 || rival.varies {
                outcome.others[index].bytes.append(try place.bytes(of: rival))
            }
        }
        return outcome
    }
}

/// A new folder for a vault, a store and what the others need.
private struct UpdatePlace {
    let folder: String
    let served: String
    let server: WebServer
    let environment: [String: String]

    init(_ update: Update, of options: Options, server: WebServer) throws {
        folder = options.work + "/update"
        served = server.root + "/update"
        self.server = server
        environment = Workshop.variables(of: options).merging([
            "old": update.old, "new": update.new, "folder": folder, "served": served,
            "url": "http://127.0.0.1:\(server.port)/update",
        ]) { $1 }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }

    /// Publishes the old version for a client, then the new one, and counts what the client downloads for that.
    func run() throws -> UpdateOutcome.Run {
        _ = try run(Self.preparation)
        sync()
        server.clearLog()
        let cost = try run("$assetvault downloader $url --store $folder/store --request update")
        let traffic = try server.traffic()
        let target = try SignedTarget(
            ofFile: folder + "/vault/site/metadata/2.targets.json", path: "packs/game.avpack")
        return UpdateOutcome.Run(
            packLength: target.length, listing: target.listing, traffic: traffic, cost: cost)
    }

    func bytes(of rival: Rival) throws -> Int {
        _ = try run("out=$folder/\(rival.name); mkdir $out\n" + Rival.functions + rival.script)
        let text = try String(contentsOfFile: "\(folder)/\(rival.name)/bytes", encoding: .utf8)
        guard let number = Int(text.filter { !$0.isWhitespace }) else {
            throw Failure("'\(text)' is not a number of bytes")
        }
        return number
    }

    func close() {
        try? FileManager.default.removeItem(atPath: served)
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func run(_ script: String) throws -> Cost {
        try MeasuredProcess.run(script, environment: environment, errors: folder + "/errors")
    }

    private static let preparation = """
        $assetvault init $folder/vault
        ln -s $folder/vault/site $served
        $assetvault publish $folder/vault --pack game=$old
        $assetvault downloader $url --store $folder/store --request install \
            --trust $folder/vault/trusted-root.json
        $assetvault publish $folder/vault --pack game=$new
        """
}
