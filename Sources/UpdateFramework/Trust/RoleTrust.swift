public import VaultBase
public import VaultCrypto

/// The keys of a role, and how many of them must sign (ROLE in section 4.3).
public struct RoleTrust: Sendable, Hashable {
    /// The role's keys of supported kinds, sorted by ID.
    public let keys: [MetadataKey]
    /// At least 1.
    public let threshold: Int

    public init(_ keys: [MetadataKey], threshold: Int = 1) {
        self.keys = keys.sorted { $0.id.description < $1.id.description }
        self.threshold = threshold
    }

    public init(_ keys: [Ed25519PublicKey], threshold: Int = 1) {
        self.init(keys.map { MetadataKey(VerifyingKey($0)) }, threshold: threshold)
    }

    /// - Parameter known: the key objects by key ID.
    init(parsing role: JSONObject, keys known: JSONObject, place: String) throws(VaultError) {
        let threshold = try role.integer("threshold", at: place)
        guard threshold >= 1 else {
            throw .malformedMetadata("a threshold is \(threshold), which is below 1", at: place)
        }
        var names: Set<MetadataKeyID> = []
        var keys: [MetadataKey] = []
        for value in try role.array("keyids", at: place) {
            let id = MetadataKeyID(try value.asString(at: place))
            guard names.insert(id).inserted else {
                throw .malformedMetadata(
                    "a role lists the key ID \"\(id.description.excerpt)\" twice", at: place)
            }
            if let key = known[id.description].flatMap({ MetadataKey(id, parsing: $0) }) { keys.append(key) }
        }
        self.init(keys, threshold: Int(clamping: threshold))
    }

    /// Checks that enough different keys signed. A key with several IDs counts once.
    ///
    /// - Parameter delegator: the role that named the keys, for messages.
    func verify(_ metadata: UnverifiedMetadata, delegatedBy delegator: @autoclosure () -> String)
        throws(VaultError)
    {
        let signers = signers(of: metadata)
        guard signers.count >= threshold else {
            throw .unsigned(
                "version \(metadata.document.version) has \(signers.count) valid signatures of the"
                    + " \(metadata.document.role) keys in \(delegator()) where \(threshold) are needed",
                at: metadata.document.place)
        }
    }

    /// Whether enough different keys signed.
    public func isMet(by metadata: UnverifiedMetadata) -> Bool {
        signers(of: metadata).count >= threshold
    }

    /// The keys of the role with a valid signature.
    public func signers(of metadata: UnverifiedMetadata) -> Set<VerifyingKey> {
        var signers: Set<VerifyingKey> = []
        for key in keys where !signers.contains(key.key) {
            let candidates = metadata.signatures[key.id] ?? []
            if candidates.contains(where: {
                key.key.isValid(signature: $0.span, for: metadata.signedBytes.span)
            }) {
                signers.insert(key.key)
            }
        }
        return signers
    }

    /// The role object, without the key objects.
    var json: JSONObject {
        [
            "keyids": .array(keys.map(\.id.description).map { .string($0) }),
            "threshold": .integer(Int64(threshold)),
        ]
    }

    /// Throws `usage` when the role has fewer keys than its threshold.
    func requireSatisfiable(of role: MetadataRole) throws(VaultError) {
        let count = Set(keys.map(\.key)).count
        guard threshold >= 1, threshold <= count else {
            throw VaultError(
                .usage, "\(count) keys can't meet a threshold of \(threshold)", at: "role \(role)",
                remedy: "name more keys or lower the threshold")
        }
    }
}

extension UnverifiedMetadata {
    /// The delegations of unverified targets; nil if there are none.
    ///
    /// - Throws: `untrusted` when they are malformed.
    public var delegations: Delegations? {
        get throws(VaultError) {
            let place = document.place
            do throws(VaultError) {
                return try document.signed.optionalObject("delegations", at: place).map {
                    json throws(VaultError) in try Delegations(parsing: json, place: place)
                }
            } catch {
                throw error.asUntrusted
            }
        }
    }

    /// The keys that an unverified root names for a role.
    ///
    /// - Throws: `untrusted` when it is not a root, or malformed.
    public func rootTrust(in role: TopLevelRole) throws(VaultError) -> RoleTrust {
        let place = document.place
        do throws(VaultError) {
            let keys = try document.signed.object("keys", at: place)
            let roles = try document.signed.object("roles", at: place)
            return try RoleTrust(
                parsing: try roles.object(role.rawValue, at: place), keys: keys,
                place: "\(place): role \(role.rawValue)")
        } catch {
            throw error.asUntrusted
        }
    }
}
