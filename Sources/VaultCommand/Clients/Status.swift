import ArgumentParser
import AssetVault
import SealedPack
import StrictJSON
import VaultErrors
import VaultTransport

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show which packs a store has, and in which state.",
        discussion: """
            EXAMPLE
              assetvault status --store ~/.game --json
            """)

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let report = try await StatusReport(of: store.layout)
        if json { return report.answer() }
        if report.packs.isEmpty { Talk.note("no pack was staged in \(store.store) yet") }
        for pack in report.packs {
            let version =
                pack.loadedVersion.map { "version \($0) \(pack.form?.rawValue ?? "")" } ?? "no version loaded"
            let waiting = pack.waitingVersion.map { ", version \($0) waits for its key" } ?? ""
            let failure = pack.failure.map { ", last attempt failed: \($0.escapingControls)" } ?? ""
            Talk.answer("\(pack.state.rawValue)  \(pack.id)  \(version)\(waiting)\(failure)")
        }
    }
}

/// What a store holds, for scripts.
struct StatusReport {
    let packs: [PackStatus]

    init(of layout: StoreLayout) async throws(VaultError) {
        packs = try await VaultStore(layout).status()
    }

    func answer() {
        Talk.answer(bytes: JSONValue.object(["packs": .array(packs.map { .object($0.json) })]).pretty())
    }
}

extension PackStatus {
    fileprivate var json: JSONObject {
        var object: JSONObject = ["id": .string(id.description), "state": .string(state.rawValue)]
        object["version"] = loadedVersion.map { .integer(Int64(clamping: $0)) }
        object["form"] = form.map { .string($0.rawValue) }
        object["waitingVersion"] = waitingVersion.map { .integer(Int64(clamping: $0)) }
        object["failure"] = failure.map { .string($0) }
        return object
    }
}
