import Foundation
import StrictJSON
import Testing

/// The jobs of authors, operators and clients have the same answers whether the names of a site are quiet or not.
@Suite(.timeLimit(.minutes(10))) struct QuietJobTests {
    /// A site of two packs and a tree of variants, and one that lists the same under quiet names.
    private struct Sites {
        let open: TestSite
        let quiet: TestSite

        init() async throws {
            open = try await Self.site(isQuiet: false)
            quiet = try await Self.site(isQuiet: true)
        }

        private static func site(isQuiet: Bool) async throws -> TestSite {
            let site = try await TestSite()
            for name in ["menu", "boss", "film"] { try site.folder.write("\(name)/\(name)", name) }
            for name in ["music", "s1/sky", "s2/sky"] { try site.folder.write("tree/\(name)", name) }
            try site.settings {
                $0["quietNames"] = .bool(isQuiet)
                $0["channels"] = ["beta", "live"]
                $0["packs"] = [
                    "ui/menu": ["source": "../menu", "policy": "essential", "tags": ["start"], "order": 2],
                    "boss": ["source": "../boss", "tags": ["level"], "order": 1],
                    "film": ["source": "../film", "policy": "onDemand", "tags": ["extra"], "order": 3],
                ]
                $0["resources"] = [
                    "game": [
                        "source": "../tree", "traits": ["scale": ["match": "nearest"]],
                        "initial": ["sound", "sky"],
                        "rules": [
                            ["paths": "music", "tags": ["sound"]],
                            ["paths": "s1/*", "tags": ["sky"], "traits": ["scale": 1]],
                            ["paths": "s2/*", "tags": ["sky"], "traits": ["scale": 2]],
                        ],
                    ]
                ]
            }
            try await site.publish()
            try await Command.run("promote", site.vault, "--from", "beta", "--to", "live", "--all")
                .succeeded()
            return site
        }

        /// Runs the same jobs for both sites, and compares the answers of each.
        func compare(_ jobs: (TestSite) async throws -> [Answer]) async throws {
            let (open, quiet) = (try await jobs(open), try await jobs(quiet))
            #expect(open.count == quiet.count)
            for (expected, found) in zip(open, quiet) {
                #expect(found.exitCode == expected.exitCode, "\(found.job): \(found.lines)")
                #expect(found.lines == expected.lines, "\(found.job)")
            }
        }
    }

    /// What a command said, without what differs from one vault to another: sizes, keys, digests, places, and the order of packs
    /// that nobody chose. The table of names is a pack of its own.
    private struct Answer {
        let job: String
        let exitCode: Int32
        let lines: [String]
    }

    private func answer(_ site: TestSite, _ words: String...) async throws -> Answer {
        try await answer(site, words)
    }

    private func answer(_ site: TestSite, _ words: [String]) async throws -> Answer {
        let result = try await Command.run(words)
        let key = try #require(
            try site.folder.json("vault/keys/vault.jwks")["keys"]?.elements?[0]["kid"]?.text)
        let text = (result.text + result.errorText)
            .replacing(key, with: "KEY").replacing(site.folder[""], with: "FOLDER/")
            .replacing(#/[0-9a-f]{64}/#, with: "DIGEST").replacing(#/[█░▓]+/#, with: "BAR")
            .replacing(#/\d+(?:\.\d+)?(?: [kKM]?i?B\b)?/#, with: "N").replacing(#/ {2,}/#, with: "  ")
        let lines = text.split(separator: "\n").map(String.init).filter { !$0.contains("assetvault.names") }
        return Answer(
            job: words.joined(separator: " "), exitCode: Int32(result.exitCode), lines: lines.sorted())
    }

    private func fetch(_ site: TestSite, into store: String, _ words: String...) async throws -> Answer {
        try await answer(
            site, ["fetch", site.site, "--store", site.folder[store], "--trust", site.root] + words)
    }

    private func store(_ site: TestSite, _ command: String, _ name: String, _ words: String...)
        async throws -> Answer
    {
        try await answer(site, [command, "--store", site.folder[name]] + words)
    }

    private func content(_ site: TestSite, _ store: String, _ id: String, _ file: String) async throws
        -> Answer
    {
        let path = try await Command.run("path", id, "--store", site.folder[store])
        let folder = path.text.trimmingCharacters(in: .newlines)
        let text = try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
        return Answer(job: "path \(id)", exitCode: Int32(path.exitCode), lines: [text ?? "none"])
    }

    /// What a program finds that has a tag in access.
    private func access(
        _ site: TestSite, _ store: String, _ tag: String, hosted: Bool, _ words: String...
    ) async throws -> Answer {
        let host = hosted ? ["--site", site.site] : []
        return try await answer(
            site,
            ["access", tag, "--store", site.folder[store], "--trust", site.root] + host + words
                + ["--", "sh", "-c", "cd \"$ASSETVAULT_RESOURCES\" && find . -type l | sort"])
    }

    @Test func aStoreAndItsPacks() async throws {
        try await Sites().compare { site in
            let keys = site.keys
            func named(_ command: String, _ id: String, _ words: [String] = []) async throws -> Answer {
                try await answer(site, [command, id, "--store", site.folder["a"]] + words)
            }
            var answers = [
                try await fetch(site, into: "a", "--device", "scale=2", keys[0], keys[1]),
                try await fetch(site, into: "a", "--tag", "extra", keys[0], keys[1]),
                try await fetch(site, into: "a", "none", keys[0], keys[1]),
                try await fetch(site, into: "a", "--tag", "none", keys[0], keys[1]),
                try await store(site, "status", "a"), try await store(site, "usage", "a"),
                try await store(site, "verify", "a", keys[0], keys[1]),
                try await content(site, "a", "ui/menu", "menu"),
                try await content(site, "a", "game/sky/scale-2", "s2/sky"),
            ]
            for (command, id) in [("purgeable", "boss"), ("keep", "boss"), ("purgeable", "film")] {
                answers.append(try await named(command, id))
            }
            answers += [
                try await named("verify", "boss", keys), try await named("path", "none"),
                try await named("preserve", "level", ["--priority", "0.9"]),
                try await named("preserve", "level"),
                try await named("preserve", "none", ["--priority", "0.9"]),
                try await store(site, "purge", "a", "--dry-run"), try await store(site, "purge", "a"),
                try await named("remove", "boss"), try await named("remove", "none"),
                try await store(site, "status", "a"),
                try await answer(site, ["repair", site.site, "ui/menu", "--store", site.folder["a"]] + keys),
                try await fetch(site, into: "a", "boss", "--dry-run", keys[0], keys[1]),
                try await fetch(site, into: "a", "boss", "--sealed", keys[0], keys[1]),
                try await access(site, "a", "start", hosted: false),
                try await access(site, "a", "level", hosted: false),
                try await access(site, "a", "none", hosted: false),
            ]
            return answers
        }
    }

    /// On a fresh store, and where a tag has gained a pack since the last refresh.
    @Test func accessByTheSite() async throws {
        try await Sites().compare { site in
            let keys = site.keys
            var answers = [
                try await access(site, "a", "sky", hosted: true, keys[0], keys[1], "--device", "scale=1"),
                try await access(site, "a", "sky", hosted: true),
                try await access(site, "a", "none", hosted: true, keys[0], keys[1]),
            ]
            try site.folder.write("more/more", "more")
            try site.settings {
                var packs = $0["packs"]?.members ?? [:]
                packs["more"] = ["source": "../more", "policy": "onDemand", "tags": ["extra"]]
                $0["packs"] = .object(packs)
            }
            try await site.publish()
            try await Command.run("promote", site.vault, "--from", "beta", "--to", "live", "--all")
                .succeeded()
            answers += [
                try await access(site, "a", "extra", hosted: true, keys[0], keys[1]),
                try await content(site, "a", "more", "more"), try await content(site, "a", "film", "film"),
                try await store(site, "status", "a"),
            ]
            return answers
        }
    }

    /// Half of a tag is no answer: without the key of the names it is refused.
    @Test func aTagWithoutTheKeyOfTheNames() async throws {
        let site = try await Sites().quiet
        try await site.fetch().succeeded()
        try site.folder.write("more/more", "more")
        try site.settings {
            var packs = $0["packs"]?.members ?? [:]
            packs["more"] = ["source": "../more", "policy": "onDemand", "tags": ["extra"]]
            $0["packs"] = .object(packs)
        }
        try await site.publish()
        try await Command.run("promote", site.vault, "--from", "beta", "--to", "live", "--all").succeeded()
        for words in [["--tag", "extra"], ["more"]] {
            try await Command.run(["fetch", site.site, "--store", site.store] + words)
                .failed(77, naming: "names are quiet")
        }
        let found = try await access(site, "store", "extra", hosted: true)
        #expect(found.exitCode == 77, "\(found.lines)")
        // Offline as well: the listing is newer than the names.
        let offline = try await access(site, "store", "extra", hosted: false)
        #expect(offline.exitCode == 66, "\(offline.lines)")
        // The table waits beside the listing, so the key alone opens it.
        try await Command.run(["unlock", "--store", site.store] + site.keys).succeeded()
        #expect(try await site.status()["more"] != nil)
    }

    /// Without a key, by the downloader and by the app: what is essential or prefetched is brought, and opens offline.
    @Test(arguments: ["downloader", "fetch"]) func broughtWithoutKeys(by command: String) async throws {
        try await Sites().compare { site in
            var words = [
                command, site.site, "--store", site.folder["a"], "--trust", site.root, "--device", "scale=1",
            ]
            if command == "downloader" { words += ["--request", "install"] }
            let brought = try await Command.run(words).succeeded()
            try FileManager.default.moveItem(atPath: site.site, toPath: site.site + ".away")
            var answers = [Answer(job: command, exitCode: Int32(brought.exitCode), lines: [])]
            answers += [
                try await answer(site, ["unlock", "ui/menu", "--store", site.folder["a"]] + site.keys),
                try await content(site, "a", "ui/menu", "menu"),
                try await answer(site, ["unlock", "none", "--store", site.folder["a"]] + site.keys),
                try await store(site, "unlock", "a", site.keys[0], site.keys[1]),
                try await content(site, "a", "boss", "boss"),
                try await content(site, "a", "game/sound", "music"),
                try await access(site, "a", "level", hosted: false),
                try await access(site, "a", "sound", hosted: false),
                try await store(site, "status", "a"),
            ]
            try FileManager.default.moveItem(atPath: site.site + ".away", toPath: site.site)
            return answers
        }
    }

    /// `access` alone opens what waits.
    @Test func accessOpensWhatWaits() async throws {
        try await Sites().compare { site in
            try await site.fetch(withKeys: false).succeeded()
            return [
                try await access(site, "store", "level", hosted: false, site.keys[0], site.keys[1]),
                try await access(site, "store", "level", hosted: false),
            ]
        }
    }

    @Test func theAuthorAndTheOperator() async throws {
        try await Sites().compare { site in
            try site.folder.write("boss/boss", "stronger")
            let json = ["list", site.site, "--trust", site.root, "--json"] + site.keys
            var answers = [
                try await answer(site, "plan", site.vault), try await answer(site, "publish", site.vault),
                try await answer(site, ["audit", site.site, "--trust", site.root] + site.keys),
                try await answer(site, ["list", site.site, "--trust", site.root] + site.keys),
                try await answer(
                    site, "promote", site.vault, "--from", "beta", "--to", "live", "--all", "--dry-run"),
                try await answer(site, "promote", site.vault, "--from", "beta", "--to", "live", "--all"),
                try await answer(site, "restore", site.vault, "boss", "--version", "1"),
                try await answer(site, "promote", site.vault, "--from", "beta", "--to", "live", "--all"),
            ]
            let listed = try #require(try await Command.run(json).succeeded().json()["packs"]?.elements)
            let ids = listed.compactMap { $0["id"]?.text }.sorted().filter { $0 != "assetvault.names" }
            answers.append(Answer(job: "list --json", exitCode: 0, lines: ids))
            return answers
        }
    }

    /// By its ID, also where several versions are in the folder.
    @Test func aPackByItsID() async throws {
        try await Sites().compare { site in
            try site.folder.write("boss/boss", "stronger")
            try await site.publish()
            try await Command.run("promote", site.vault, "--from", "beta", "--to", "live", "--all")
                .succeeded()
            let from = ["--site", site.site, "--trust", site.root] + site.keys
            return [
                try await answer(site, ["cat", "boss", "boss"] + from),
                try await answer(site, ["cat", "bos", "boss"] + from),
                try await answer(site, ["open", "ui/menu", "-o", site.folder["opened"]] + from),
                Answer(
                    job: "opened", exitCode: 0,
                    lines: [try String(contentsOfFile: site.folder["opened/menu"], encoding: .utf8)]),
            ]
        }
    }
}
