import UpdateFramework
import VaultBase
import VaultSite

/// The roots of a site up to the pinned one. Verification begins with the pin, and reads only what follows on it; but clients may pin any
/// root, and need its successors.
struct KeptRoots {
    private let site: Site
    private let pinned: VerifiedRoot

    /// Nil without a pin: then verification has begun with the first one.
    init?(of site: Site, pinnedRoot: VerifiedRoot?) {
        guard let pinnedRoot else { return nil }
        (self.site, pinned) = (site, pinnedRoot)
    }

    /// What is wrong with the file of the pin, or with one before it.
    func findings() async -> [Finding] {
        var findings: [Finding] = []
        var next: VerifiedRoot?
        let first = max(1, pinned.version - Int64(RootHistory.limit))
        for version in (first...pinned.version).reversed() {
            do throws(VaultError) {
                next = try await root(version, before: next)
            } catch {
                findings.append(Finding(error.asDamage(in: site)))
                next = nil
            }
        }
        return findings
    }

    /// Why the site's root of the pin's version is not the pin; nil if it is.
    func refusalOfPinned() async -> VaultError? {
        do throws(VaultError) { _ = try await root(pinned.version, before: nil) } catch { return error }
        return nil
    }

    private func root(_ version: Int64, before next: VerifiedRoot?) async throws(VaultError) -> VerifiedRoot {
        let role = MetadataRole.root
        let name = role.hostedName(version: version)
        guard let bytes = try await site.metadata(named: name, limit: role.sizeLimit) else {
            throw VaultError(
                .notHosted, "the site does not have this root, and clients may pin it",
                at: site.place(of: name), remedy: Self.remedy, code: "missing-root")
        }
        guard version < pinned.version else {
            if bytes == pinned.bytes { return pinned }
            throw VaultError(
                .corrupt, "it is not the root of version \(version) that was given", at: site.place(of: name),
                remedy: Self.remedy, code: "other-root")
        }
        let metadata = try UnverifiedMetadata(parsing: bytes, as: role, place: site.place(of: name))
        let root = try VerifiedRoot(pinning: metadata)
        guard root.version == version else {
            throw VaultError(
                .corrupt, "its version is \(root.version)", at: site.place(of: name), remedy: Self.remedy)
        }
        if let next {
            let following = site.place(of: role.hostedName(version: next.version))
            _ = try root.successor(
                verifying: UnverifiedMetadata(parsing: next.bytes, as: role, place: following))
        }
        return root
    }

    private static let remedy = "a site keeps all its roots: put the publisher's copy of it there again"
}
