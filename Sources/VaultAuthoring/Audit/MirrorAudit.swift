import UpdateFramework
import VaultBase
import VaultSite
import VaultTransport

/// How another host of a site differs from it. Its bytes are not read: an audit of that host verifies them.
struct MirrorAudit {
    private let mirror: Site
    private let tree: TargetTree
    private let site: Site
    private let pinnedRoot: VerifiedRoot?
    private var place: String { mirror.location.description }

    /// - Parameter tree: of `site`, which is audited.
    init(of mirror: Site, against tree: TargetTree, of site: Site, pinnedRoot: VerifiedRoot?) {
        (self.mirror, self.tree, self.site, self.pinnedRoot) = (mirror, tree, site, pinnedRoot)
    }

    func findings() async -> [Finding] {
        let found: TargetTree
        do throws(VaultError) { found = try await verifiedTree() } catch {
            return [Finding(error.asDamage(in: mirror))]
        }
        var findings = found.refusals.map { Finding($0.error.asDamage(in: mirror)) }
        findings += age(of: found)
        findings += otherMetadata(than: found)
        return findings + (await presence(of: found.hostedRecords, in: found.chain))
    }

    /// Verified from a root of the site: the mirror's own first root could be another site's.
    private func verifiedTree() async throws(VaultError) -> TargetTree {
        let root = pinnedRoot ?? tree.chain.root
        do throws(VaultError) {
            return try await TargetTree.verifying(mirror, pinnedRoot: root, now: .earliest)
        } catch {
            // A mirror that was not updated since the site's keys changed has an earlier root.
            guard error.category == .untrusted,
                let history = try? await RootHistory(
                    fromFirstRootOf: site, upTo: tree.chain.root.version),
                let first = history.roots.first, history.roots.last?.bytes == tree.chain.root.bytes,
                let found = try? await TargetTree.verifying(mirror, pinnedRoot: first, now: .earliest),
                found.chain.root.version < tree.chain.root.version
            else { throw error }
            return found
        }
    }

    /// Of a mirror that fails again and again, not all files are asked for: each would cost the time of a failure.
    private func presence(of targets: [TargetRecord], in chain: TrustChain) async -> [Finding] {
        var findings: [Finding] = []
        var failures = 0
        for target in targets {
            guard failures < RetryPolicy().attempts else {
                findings.append(
                    Finding(
                        .note, "not-looked-at",
                        "it failed \(failures) times in a row, so other files were not asked for", at: place,
                        remedy: "compare it again once it answers"))
                break
            }
            let found = await presence(of: target, in: chain)
            findings += found
            let hasFailed = found.compactMap(\.error).contains(where: RetryPolicy.isWorthRetrying)
            failures = hasFailed ? failures + 1 : 0
        }
        return findings
    }

    /// The roots count first: a newer one may have replaced the keys of the timestamp.
    private func age(of found: TargetTree) -> [Finding] {
        let (ourRoot, theirRoot) = (tree.chain.root.version, found.chain.root.version)
        if theirRoot < ourRoot { return [behind("root", theirRoot, ourRoot)] }
        let (ours, theirs) = (tree.chain.timestamp, found.chain.timestamp)
        if theirs.version < ours.version { return [behind("timestamp", theirs.version, ours.version)] }
        if theirs.version > ours.version {
            return [.mirrorAhead(theirs.version, of: ours.version, at: place)]
        }
        return ours.bytes == theirs.bytes
            ? [] : [differing(MetadataRole.timestamp.fileName, "timestamp version \(ours.version)")]
    }

    private func behind(_ role: String, _ theirs: Int64, _ ours: Int64) -> Finding {
        .warning(
            "mirror-behind",
            "it has \(role) version \(theirs), and the site \(ours): clients that know the newer one may refuse it, others learn of the update late",
            at: place, remedy: "copy the site to it again")
    }

    /// Files that both list under one number.
    private func otherMetadata(than found: TargetTree) -> [Finding] {
        let theirs = Dictionary(
            documents(of: found).map { ($0.hostedName, $0.bytes) }, uniquingKeysWith: { first, _ in first })
        return documents(of: tree).filter { theirs[$0.hostedName] ?? $0.bytes != $0.bytes }.map {
            differing($0.hostedName, $0.hostedName)
        }
    }

    private func documents(of tree: TargetTree) -> [MetadataDocument] {
        [tree.chain.root.document] + tree.numberedDocuments
    }

    private func differing(_ name: String, _ what: String) -> Finding {
        Finding(
            .error(.untrusted), "mirror-differs",
            "its \(what) has other bytes than the site's: clients of one may refuse the other",
            at: mirror.place(of: name),
            remedy: "find out which one is the publisher's, and copy that one again")
    }

    /// Whether a file is there with its length, by one byte of it.
    private func presence(of target: TargetRecord, in chain: TrustChain) async -> [Finding] {
        var place = target.path
        do throws(VaultError) {
            let location = try mirror.location(of: target, in: chain)
            place = location.description
            let file = RemoteFile(
                location, of: target.path, length: target.length, transport: mirror.transport,
                remedy: "copy the site to the mirror again, or repair it")
            do throws(TransferFailure) {
                _ = try await file.open(target.length > 0 ? 0..<1 : nil)
                return []
            } catch {
                throw error.error
            }
        } catch {
            let code: Finding.Code =
                switch error.category {
                case .notHosted: "mirror-missing-file"
                case .corrupt: "mirror-wrong-length"
                default: error.code
                }
            return [
                Finding(
                    .error(error.category), code, "\(error.problem): clients get it from the site alone",
                    at: place, remedy: error.remedy)
            ]
        }
    }
}
