public import VaultBase

/// A site's complete top-level metadata, each file verified by the one before it, and none of them expired at the given
/// time (sections 5.3.10 to 5.6).
///
/// It is built step by step, and each type exists only after the previous step was verified: ``AtRoot``,
/// ``AtTimestamp``, ``AtSnapshot``, then the chain.
public struct TrustChain: Sendable {
    public let root: VerifiedRoot
    public let timestamp: VerifiedTimestamp
    public let snapshot: VerifiedSnapshot
    public let targets: VerifiedTargets
    /// Whether the host's timestamp has the same version as the trusted one, but another snapshot: two publishers
    /// created the same version. The trusted one is used (TUF section 5.4.3) until the host has a higher version.
    public let isContested: Bool

    /// Verifies a delegated role (TUF section 5.6.7): it must be listed in the snapshot; length and hashes are checked
    /// first.
    ///
    /// - Parameter now: the time at which it must not have expired.
    func delegated(
        _ metadata: UnverifiedMetadata, at step: DelegationStep, now: UTCTime
    ) throws(VaultError) -> VerifiedTargets {
        let document = metadata.document
        let reference = try reference(to: step.delegation.role)
        try reference.check(document.bytes, at: document.place)
        let targets = try VerifiedTargets(verifying: metadata, as: step.delegation, by: step.delegator)
        try targets.requireVersion(reference.version, in: "snapshot version \(snapshot.version)")
        try targets.requireCurrent(at: now)
        return targets
    }

    func reference(to role: MetadataRole) throws(VaultError) -> MetadataReference {
        guard let reference = snapshot[role] else {
            throw .malformedMetadata(
                "snapshot version \(snapshot.version) does not list it", at: role.fileName)
        }
        return reference
    }

    /// The path of a target at the host, relative to its folder of targets.
    public func hostedPath(of target: TargetRecord) -> String {
        root.usesConsistentSnapshots ? target.hostedPath : target.path
    }

    /// The newest root is known and has not expired.
    public struct AtRoot: Sendable {
        public let root: VerifiedRoot
        let now: UTCTime

        public init(_ root: VerifiedRoot, now: UTCTime) throws(VaultError) {
            try root.requireCurrent(at: now)
            self.root = root
            self.now = now
        }

        /// Verifies a timestamp (TUF section 5.4). If its version is that of the trusted one, the trusted one is used.
        public func timestamp(
            _ metadata: UnverifiedMetadata, after trusted: VerifiedTimestamp?
        ) throws(VaultError) -> AtTimestamp {
            let hosted = try VerifiedTimestamp(verifying: metadata, under: root)
            var timestamp = hosted
            if let trusted {
                try hosted.requireNotOlder(than: trusted)
                if hosted.version == trusted.version { timestamp = trusted }
            }
            try timestamp.requireCurrent(at: now)
            return AtTimestamp(
                root: root, timestamp: timestamp, isContested: hosted.snapshot != timestamp.snapshot, now: now
            )
        }
    }

    /// The newest timestamp is known and has not expired.
    public struct AtTimestamp: Sendable {
        public let root: VerifiedRoot
        public let timestamp: VerifiedTimestamp
        let isContested: Bool
        let now: UTCTime

        /// Verifies a snapshot (TUF section 5.5); length and hashes are checked first.
        public func snapshot(
            _ metadata: UnverifiedMetadata, after trusted: VerifiedSnapshot?
        ) throws(VaultError) -> AtSnapshot {
            let document = metadata.document
            try timestamp.snapshot.check(document.bytes, at: document.place)
            let snapshot = try VerifiedSnapshot(verifying: metadata, under: root)
            try snapshot.requireVersion(
                timestamp.snapshot.version, in: "timestamp version \(timestamp.version)")
            if let trusted { try snapshot.requireNothingOlder(than: trusted) }
            try snapshot.requireCurrent(at: now)
            return AtSnapshot(
                root: root, timestamp: timestamp, snapshot: snapshot, isContested: isContested, now: now)
        }
    }

    /// The newest snapshot is known and has not expired.
    public struct AtSnapshot: Sendable {
        public let root: VerifiedRoot
        public let timestamp: VerifiedTimestamp
        public let snapshot: VerifiedSnapshot
        let isContested: Bool
        let now: UTCTime

        /// Verifies the top-level targets (TUF section 5.6); length and hashes are checked first.
        public func targets(_ metadata: UnverifiedMetadata) throws(VaultError) -> TrustChain {
            let document = metadata.document
            try snapshot.targets.check(document.bytes, at: document.place)
            let targets = try VerifiedTargets(verifying: metadata, under: root)
            try targets.requireVersion(snapshot.targets.version, in: "snapshot version \(snapshot.version)")
            try targets.requireCurrent(at: now)
            return TrustChain(
                root: root, timestamp: timestamp, snapshot: snapshot, targets: targets,
                isContested: isContested)
        }
    }
}

extension VerifiedTimestamp {
    /// The rollback checks of section 5.4.3.
    func requireNotOlder(than trusted: VerifiedTimestamp) throws(VaultError) {
        guard version >= trusted.version else {
            throw .rollback(
                "version \(version) is older than the trusted version \(trusted.version)", at: document.place)
        }
        guard version == trusted.version || snapshot.version >= trusted.snapshot.version else {
            throw .rollback(
                "version \(version) lists snapshot version \(snapshot.version), which is older than the trusted"
                    + " version \(trusted.snapshot.version)", at: document.place)
        }
    }
}

extension VerifiedMetadata {
    fileprivate func requireVersion(_ listed: Int64, in parent: String) throws(VaultError) {
        guard version == listed else {
            throw .inconsistentMetadata(
                "its version is \(version) where \(parent) lists \(listed)", at: document.place)
        }
    }
}
