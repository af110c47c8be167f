import ArgumentParser
import AssetVault
import SealedPack
import StrictJSON
import VaultErrors

struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read every byte of the packs in a store, without any network.",
        discussion: """
            Packs kept sealed are verified without a key, opened ones with theirs. Nothing is changed; 'repair' fetches what is \
            damaged. Exit code 65 says that a pack is damaged, 77 that the key of an opened one is missing.

            EXAMPLE
              assetvault verify --store ~/.game --keys env:GAME_KEY
            """)

    @Argument(help: ArgumentHelp("The packs to check.", valueName: "id"), completion: .packsOfStore)
    var ids: [String] = []

    @OptionGroup var store: StoreOptions

    @OptionGroup var keys: KeyOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let named = try ids.isEmpty ? nil : ids.map { id throws(VaultError) in try PackID(id) }
        let reader = VaultStore(try store.existingLayout(), keys: try keys.provider())
        let found = try await store.naming(ids) { () throws(VaultError) in try await reader.verify(named) }
        if json {
            let packs = found.map { JSONValue.object($0.json) }
            Console.answer(bytes: JSONValue.object(["packs": .array(packs)]).pretty())
        } else {
            for pack in found {
                Console.answer(
                    "\(pack.word)  \(pack.id)  version \(pack.version) \(pack.form.rawValue)\(pack.details)")
            }
            if found.isEmpty { Console.note("no pack is loaded") }
        }
        if let error = found.lazy.compactMap(\.damage).first ?? found.lazy.compactMap(\.missingKey).first {
            throw error
        }
    }
}

extension PackCondition {
    fileprivate var word: String {
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

    fileprivate var details: String { reason.map { ": \($0)" } ?? "" }

    fileprivate var damage: VaultError? {
        guard case .damaged(let reason) = finding else { return nil }
        return VaultError(
            .corrupt, reason, at: id.description,
            remedy: "fetch what is damaged: assetvault repair URL \(id) --store DIR")
    }

    fileprivate var missingKey: VaultError? {
        guard case .unverified(let reason) = finding else { return nil }
        return VaultError(.key, reason, at: id.description, remedy: "give its key with --keys")
    }

    fileprivate var json: JSONObject {
        var object: JSONObject = [
            "id": .string(id.description), "version": .integer(Int64(clamping: version)),
            "form": .string(form.rawValue), "finding": .string(word),
        ]
        object["reason"] = reason.map { .string($0) }
        return object
    }
}
