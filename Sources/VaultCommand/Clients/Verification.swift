import ArgumentParser
import AssetVault
import VaultBase

struct Verify: LongCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read every byte of the packs in a store, without any network.",
        discussion: """
            Packs kept sealed are verified without a key, opened ones with their key. Nothing is changed; \
            'repair' fetches what is damaged. Exit code 65 means that a pack is damaged, 77 that the key of \
            an opened one is missing.

            EXAMPLE
              assetvault verify --store ~/.game --keys env:GAME_KEY
            """)

    @Argument(help: ArgumentHelp("The packs to check.", valueName: "id"), completion: .packsOfStore)
    var ids: [String] = []

    @OptionGroup var store: StoreOptions
    @OptionGroup var keys: KeyOptions

    @OptionGroup var progress: ProgressOption

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let named = try ids.isEmpty ? nil : store.packs(ids)
        let reader = VaultStore(try store.existingLayout(), keys: try keys.cachedProvider())
        let shown = FetchProgress()
        defer { shown.finish() }
        let found = try await store.suggestingNames(for: ids) { () throws(VaultError) in
            try await reader.verify(named) { shown.show($0) }
        }
        shown.finish()
        let report = VerificationReport(packs: found)
        report.answer(asJSON: json)
        if let error = report.error { throw error }
    }
}

/// The condition of the packs of a store.
struct VerificationReport: Report {
    let packs: [PackCondition]

    var columns: [Column<Self>] {
        [.table("packs", PackCondition.columns) { $0.packs }]
    }

    var notes: [String] { packs.isEmpty ? ["no pack is loaded"] : [] }

    /// The first damage, else the first missing key.
    var error: VaultError? {
        packs.lazy.compactMap(\.damage).first ?? packs.lazy.compactMap(\.missingKey).first
    }
}

extension PackCondition {
    fileprivate static var columns: [Column<PackCondition>] {
        [
            .text("finding", "%") { $0.word }, .text("id", "%") { $0.id },
            .number("version", "version %") { $0.version }, .text("form", " %") { $0.form.rawValue },
            .text("reason", ": %") { $0.reason },
        ]
    }

    private var word: String {
        switch finding {
        case .sound: "sound"
        case .damaged: "damaged"
        case .unverified: "unverified"
        }
    }

    private var reason: String? {
        switch finding {
        case .sound: nil
        case .damaged(let reason), .unverified(let reason): reason
        }
    }

    fileprivate var damage: VaultError? {
        guard case .damaged(let reason) = finding else { return nil }
        let keys = form == .opened ? " --keys SPEC" : ""
        return VaultError(
            .corrupt, reason, at: id.description,
            remedy: "fetch damaged pieces again: assetvault repair URL \(id) --store DIR\(keys)")
    }

    fileprivate var missingKey: VaultError? {
        guard case .unverified(let reason) = finding else { return nil }
        return VaultError(.key, reason, at: id.description, remedy: "give its key", hint: .givingKey)
    }
}
