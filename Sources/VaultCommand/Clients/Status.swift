import ArgumentParser
import AssetVault
import SealedPack
import StrictJSON
import VaultErrors
import VaultTransport

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show which packs a store has, and in which state.",
        discussion: """
            EXAMPLE
              assetvault status --store ~/.game --json
            """)

    @OptionGroup var store: StoreOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let report = try await StatusReport(of: store.begunLayout())
        if json { return report.answer() }
        if report.packs.isEmpty { Console.note("no pack was staged in \(store.store) yet") }
        for pack in report.packs {
            let version =
                pack.loadedVersion.map { "version \($0) \(pack.form?.rawValue ?? "")" } ?? "no version loaded"
            let waiting =
                pack.waitingVersion.map { ", version \($0) waits for its key" } ?? ""
            let purgeable = pack.isPurgeable ? ", purgeable" : ""
            Console.answer(
                "\(pack.state.name)  \(pack.id)  \(version)\(purgeable)\(waiting)\(pack.state.details)")
        }
    }
}

/// The packs of a store as JSON.
struct StatusReport {
    let packs: [PackStatus]

    init(of layout: StoreLayout) async throws(VaultError) {
        packs = try await VaultStore(layout).status()
    }

    /// - Parameter name: of the member with the packs that the command changed.
    func answer(with ids: [PackID] = [], as name: String? = nil) {
        var answer: JSONObject = ["packs": .array(packs.map { .object($0.json) })]
        if let name { answer[name] = .array(ids.map { .string($0.description) }) }
        Console.answer(bytes: JSONValue.object(answer).pretty())
    }
}

extension PackStatus {
    fileprivate var json: JSONObject {
        var object: JSONObject = ["id": .string(id.description), "state": .string(state.name)]
        object["version"] = loadedVersion.map { .integer(Int64(clamping: $0)) }
        object["form"] = form.map { .string($0.rawValue) }
        object["waitingVersion"] = waitingVersion.map { .integer(Int64(clamping: $0)) }
        if isPurgeable { object["purgeable"] = .bool(true) }
        if isRemoved { object["removed"] = .bool(true) }
        switch state {
        case .failed(let category, let reason):
            object["failure"] = .string(reason)
            object["category"] = category.map { .string($0.rawValue) }
        case .downloading(let bytes, let total):
            object["bytes"] = .integer(Int64(clamping: bytes))
            object["total"] = .integer(Int64(clamping: total))
        default: break
        }
        return object
    }
}

extension PackState {
    /// Details beside the name of the state.
    fileprivate var details: String {
        switch self {
        case .failed(_, let reason): ", last attempt failed: \(reason)"
        case .downloading(let bytes, let total): ", \(bytes) of \(total) bytes are there"
        default: ""
        }
    }
}
