import UpdateFramework
import VaultBase

/// Reads any bytes as metadata, as far as it goes, and stops the program when a promise is broken.
///
/// The first byte of an input chooses the role (its two lowest bits), whether the rest is only the signed part of a
/// file (4), and whether a whole site is made of it (8). What is well formed is signed with a known key, so that what
/// lies behind the signatures is read, too.
struct MetadataReader: FuzzTarget {
    private let signer: KnownSigner
    private var root: VerifiedRoot { signer.root }

    init() {
        do {
            signer = try KnownSigner()
        } catch {
            fatalError("the fuzzer can't begin: \(error)")
        }
    }

    func read(_ input: [UInt8]) {
        guard let mode = input.first else { return }
        let role = MetadataRole(TopLevelRole.allCases[Int(mode & 3)])
        var bytes = Array(input.dropFirst())
        if mode & 4 != 0 { bytes = Array("{\"signatures\":[],\"signed\":".utf8) + bytes + Array("}".utf8) }
        guard let metadata = try? UnverifiedMetadata(parsing: bytes, as: role, place: "input") else {
            return
        }
        do throws(VaultError) {
            try read(metadata, as: role, asSite: mode & 8 != 0)
        } catch {
            fatalError("what was read can't be written: \(error)")
        }
    }

    /// Throws what never may happen.
    private func read(
        _ metadata: UnverifiedMetadata, as role: MetadataRole, asSite: Bool
    ) throws(VaultError) {
        _ = try? VerifiedRoot(pinning: metadata)
        _ = try? root.successor(verifying: metadata)
        let signed = try signer.sign(SignedMetadata(metadata))
        let copy = try signed.unverified
        require(copy.document.signed == metadata.document.signed, "what is signed stays as it is")
        _ = try SignedMetadata(copy).merging(metadata)
        switch role.type {
        case .root: read(root: copy)
        case .timestamp: _ = try? VerifiedTimestamp(verifying: copy, under: root)
        case .snapshot: read(snapshot: copy)
        case .targets:
            guard let targets = try? VerifiedTargets(verifying: copy, under: root) else { return }
            let reader = TargetsReader(signer: signer, targets: targets)
            let roles = try reader.read()
            if asSite { try reader.readSite(with: roles) }
        }
    }

    private func read(root metadata: UnverifiedMetadata) {
        guard let next = try? root.successor(verifying: metadata) else { return }
        for role in TopLevelRole.allCases {
            require(next.trust(in: role).threshold >= 1, "thresholds are positive")
        }
    }

    private func read(snapshot metadata: UnverifiedMetadata) {
        guard let snapshot = try? VerifiedSnapshot(verifying: metadata, under: root) else { return }
        require(snapshot[.targets] == snapshot.targets, "the targets are listed once")
        require(snapshot.targets.version >= 1, "versions are positive")
    }
}
