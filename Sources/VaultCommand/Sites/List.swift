import ArgumentParser
import SealedPack
import StrictJSON
import SystemPackage
import UpdateFramework
import VaultErrors
import VaultFileSystem
import VaultKeys
import VaultSite
import VaultTransport

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the packs of a site, and which vault keys open them.",
        discussion: """
            Reads the site's metadata, and needs neither a store nor a key. Of each pack it says ID, version, size, opened size, \
            policy, tags, traits, and the vault keys that it is sealed for. Without --trust the metadata is verified from \
            the site's own first root: then nobody says whose site it is.

            EXAMPLE
              assetvault list https://cdn.example.com/game --trust trusted-root.json
              assetvault list my-game/site --json
            """)

    @Argument(
        help: ArgumentHelp("The site: a folder, or its https, http or file URL.", valueName: "site"),
        completion: .directory)
    var site: String

    @OptionGroup var trust: TrustedRootOption

    @OptionGroup var connection: TransportOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let location = try SiteLocation(site)
        if let folder = location.path { try folder.requireSite() }
        let root = try trust.root()
        let tree = try await TargetTree.verifying(
            Site(location, transport: try connection.transport()), pinnedRoot: root, now: .now)
        let published = PublishedPacks(of: tree)
        if json {
            answerJSON(published, isPinned: root != nil)
        } else {
            for listing in published.listings { Console.answer(listing.pack.line) }
        }
        if root == nil { Console.note("not pinned: give --trust ROOT.json to verify whose site it is") }
        if published.listings.isEmpty { Console.note("the site lists no packs") }
        for skipped in published.skipped { Console.note("no pack: \(skipped.path): \(skipped.reason)") }
        for refusal in tree.refusals {
            Console.note("warning: what '\(refusal.role)' lists is left out: \(refusal.error.problem)")
        }
    }

    private func answerJSON(_ published: PublishedPacks, isPinned: Bool) {
        let answer: JSONObject = [
            "pinned": .bool(isPinned), "packs": .array(published.listings.map { .object($0.pack.summary) }),
        ]
        Console.answer(bytes: JSONValue.object(answer).pretty())
    }
}

extension PackManifest {
    fileprivate var line: String {
        var line =
            "\(id)  version \(version)  \(offer.policy.rawValue)  \(length) bytes, opened \(openedSize)"
        if !offer.tags.isEmpty { line += "  tags: \(offer.tags.joined(separator: ", "))" }
        if !offer.traits.isEmpty {
            let traits = String(decoding: JSONValue.object(offer.traits).compact().dropLast(), as: UTF8.self)
            line += "  traits: \(traits)"
        }
        return line + "  sealed for \(slots.map(\.keyID.description).joined(separator: ", "))"
    }

    fileprivate var summary: JSONObject {
        [
            "id": .string(id.description), "version": .integer(Int64(clamping: version)),
            "length": .integer(Int64(clamping: length)),
            "openedSize": .integer(Int64(clamping: openedSize)),
            "policy": .string(offer.policy.rawValue),
            "tags": .array(offer.tags.map { .string($0) }), "traits": .object(offer.traits),
            "keys": .array(slots.map { .string($0.keyID.description) }),
        ]
    }
}
