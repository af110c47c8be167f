import ArgumentParser
import SealedPack
import VaultBase

extension Hint {
    /// The option by which the user changes a setting.
    var words: String {
        switch self {
        case .trustedRoot: "--trust ROOT.json"
        case .replacing: "--force"
        case .followingLinks: "'seal --follow-links', or \"followLinks\": true in vault.json"
        case .unpackingLimit: "--max-unpacked BYTES"
        case .evidence: "--manifest FILE, or --site URL-or-DIR with --trust ROOT.json"
        case .repairingSite(let folder): GivenCommand.line(of: ["repair", folder, "--from", "URL"])
        case .pruning: "assetvault prune"
        case .pruningToLastVersions: "assetvault prune --keep 1"
        case .allowingOlder: "assetvault promote --allow-older"
        case .acceptingRemovedKeys: "assetvault restore --accept-removed-keys"
        case .releasing(let channel): "assetvault restore VAULT --channel \(channel) --latest"
        case .publishingFromHost: "--against URL"
        case .signing: "assetvault trust sign"
        case .rotation(let role, let vault): GivenCommand.line(of: ["trust", "rotate", vault, role])
        case .publishing: "assetvault publish"
        case .makingVaultKey: "assetvault keygen"
        case .replacingKey: "assetvault keys rekey VAULT"
        case .finishingReplacement(let audience):
            "assetvault keys rekey VAULT\(audience.map { " --audience \($0)" } ?? "") --finish"
        case .retiringKey(let id): "assetvault keys retire VAULT \(id)"
        case .makingHeldKey: "assetvault keys add VAULT --audience held"
        case .makingVault: "assetvault init VAULT"
        case .accessLimit: "--in-use BYTES"
        case .givingKey: "--keys SPEC"
        case .openingPacks(let packs, let store):
            GivenCommand.line(of: ["unlock"] + packs + store + ["--keys", "SPEC", "--opened"])
        case .passphrase: "--passphrase env:NAME"
        }
    }
}

extension VaultError {
    /// The error with the command's words in its remedy.
    var worded: VaultError {
        guard let hint else { return self }
        return with(remedy: "\(remedy) (\(hint.words))")
    }
}

extension VaultError {
    /// With the pack that a mistyped ID probably means: the ID that the error is about is compared with those that exist.
    func suggesting(
        for ids: [String], among known: () async throws(VaultError) -> [PackID]
    ) async -> VaultError {
        guard category == .missing,
            let id = ids.first(where: { $0 == place }) ?? (ids.count == 1 ? ids.first : nil),
            let packs = try? await known()
        else { return self }
        return suggesting(id, among: packs.map(\.description))
    }
}

extension VaultError {
    /// An error of the argument parser, in one line like every other error; nil for the text of `--help` and the like.
    init?(usage error: any Error) {
        guard AssetVaultCommand.exitCode(for: error) == .validationFailure else { return nil }
        let words = CommandLine.arguments.dropFirst().prefix { !$0.hasPrefix("-") }
        var command: any ParsableCommand.Type = AssetVaultCommand.self
        var name = ["assetvault"]
        for word in words {
            let known = command.configuration.subcommands
            guard !known.isEmpty else { break }
            guard let next = known.first(where: { $0._commandName == word }) else {
                let path = name.dropFirst() + [word]
                let names = known.map { (name.dropFirst() + [$0._commandName]).joined(separator: " ") }
                let typed = path.joined(separator: " ")
                self.init(
                    .usage, "there is no command '\(typed)'" + Suggestion.question(for: typed, among: names),
                    at: Self.place(of: name), remedy: "see '\(name.joined(separator: " ")) --help'")
                return
            }
            command = next
            name.append(word)
        }
        self.init(
            .usage, AssetVaultCommand.message(for: error).split(separator: "\n").joined(separator: " "),
            at: Self.place(of: name), remedy: "see '\(name.joined(separator: " ")) --help'")
    }

    /// Of a command; every error begins with the name of the program.
    private static func place(of name: [String]) -> String {
        name.count > 1 ? name.dropFirst().joined(separator: " ") : "arguments"
    }
}

/// The command line of this run.
enum GivenCommand {
    /// The same line, changed into one to try next.
    ///
    /// - Parameters:
    ///   - name: another subcommand to put in the place of the given one.
    ///   - dropped: words to leave out, each once.
    ///   - added: words to put behind the others.
    static func line(
        as name: String? = nil, without dropped: [String] = [], adding added: [String] = []
    ) -> String {
        var words = Array(CommandLine.arguments.dropFirst())
        if let name, !words.isEmpty { words[0] = name }
        for word in dropped {
            if let index = words.lastIndex(of: word) { words.remove(at: index) }
        }
        return line(of: words + added)
    }

    /// A line to try, quoted for a shell.
    static func line(of words: [String]) -> String {
        (["assetvault"] + words.map(\.quotedForShell)).joined(separator: " ")
    }

    /// What stands behind `--`: a program and its arguments.
    static var program: [String] { Array(CommandLine.arguments.drop { $0 != "--" }.dropFirst()) }
}
